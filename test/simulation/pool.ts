import { type ChildProcess, fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { runSeed, type SeedResult } from "./run-seed.ts";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));

/**
 * Seeds that a child process runs: what awaits when a seed ends stays in memory until the process
 * ends.
 */
const SEEDS_A_CHILD = 100;

/** The result of a seed; its trace stays where it ran. */
export type Verdict = Pick<SeedResult, "seed" | "violation">;

/**
 * Runs seeds in processes of their own, one for each core, and returns each result.
 *
 * @param isOver called before each seed
 */
export async function runInPool(
  seeds: Iterable<number>,
  isOver: () => boolean,
  heard: (verdict: Verdict) => void,
): Promise<void> {
  const waiting = seeds[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    let child: ChildProcess | undefined;
    for (let asked = 0; !isOver(); asked += 1) {
      const { value: seed, done } = waiting.next();
      if (done === true) break;
      if (asked > 0 && asked % SEEDS_A_CHILD === 0) child?.disconnect();
      if (child?.connected !== true) child = startChild();
      heard(await askFor(seed, child));
    }
    child?.disconnect();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
}

/** Runs the seeds that the parent process sends, until it disconnects. */
export function servePool(): Promise<number> {
  return new Promise((resolve) => {
    process.on("message", (seed: number) => {
      void runSeed(seed).then(({ violation }) => process.send?.({ seed, violation }));
    });
    process.on("disconnect", () => resolve(0));
  });
}

function startChild(): ChildProcess {
  return fork(main, ["--serve"], { execArgv: ["--disable-warning=ExperimentalWarning"] });
}

function askFor(seed: number, child: ChildProcess): Promise<Verdict> {
  return new Promise((resolve) => {
    const hear = (verdict: Verdict): void => {
      child.off("exit", end);
      resolve(verdict);
    };
    const end = (code: number | null): void => {
      child.off("message", hear);
      resolve({ seed, violation: `crash: its process ended with ${code ?? "a signal"}` });
    };
    child.once("message", hear);
    child.once("exit", end);
    child.send(seed);
  });
}
