import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { PLANTS } from "./plants/plants.ts";
import { fromRanges, toRanges } from "./ranges.ts";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));

/** The least number of cores of the machines that run this. */
const AT_ONCE = 2;

/**
 * Plants one bug after the other, each in a process of its own, until a rule catches it.
 *
 * @param seeds in which each bug must be caught
 * @returns exit code: 1 if a bug was not caught
 */
export async function catchPlants(seeds: string): Promise<number> {
  const waiting = [...PLANTS];
  let missed = 0;
  const lane = async (): Promise<void> => {
    for (let plant = waiting.shift(); plant !== undefined; plant = waiting.shift()) {
      const sinceMs = performance.now();
      const caught = await catchOne(plant.name, seeds);
      if (caught === undefined) missed += 1;
      const seconds = Math.round((performance.now() - sinceMs) / 1_000);
      process.stdout.write(`${plant.name}: ${caught ?? "NOT CAUGHT"} (${seconds} s)\n`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  process.stdout.write(`${PLANTS.length} planted bugs, ${missed} not caught\n`);
  return missed === 0 ? 0 : 1;
}

/** @returns the violation; undefined if none was found that the same seed lacks without the bug */
async function catchOne(name: string, seeds: string): Promise<string | undefined> {
  for (let left = fromRanges(seeds); left.length > 0;) {
    const caught = await broken("--plant", name, "--seeds", toRanges(left));
    if (caught === undefined) return undefined;
    const seed = Number(/^seed (\d+)/.exec(caught)?.[1]);
    if ((await broken("--seed", String(seed))) === undefined) return caught;
    left = left.filter((each) => each > seed);
  }
  return undefined;
}

/** Returns the output about the first broken rule; undefined if none was broken. */
function broken(...args: readonly string[]): Promise<string | undefined> {
  const command = ["--disable-warning=ExperimentalWarning", main, ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, command, (_, stdout) => {
      const lines = stdout.split("\n").filter((line) => line.startsWith("seed "));
      resolve(lines.find((line) => !/^seed \d+: (\w*Error|crash|no violation)/.test(line)));
    });
  });
}
