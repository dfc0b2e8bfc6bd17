import "../world/globals.ts";
import "../loader.ts";

const { runSeed } = await import("../run-seed.ts");

const STEPS = 3_000;

/** Prints the fingerprint of each given seed, one after the other in one process. */
for (const seed of process.argv.slice(2).map(Number)) {
  const { fingerprint, steps } = await runSeed(seed, { steps: STEPS });
  process.stdout.write(`${seed} ${fingerprint} ${steps}\n`);
}
