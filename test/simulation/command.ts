import { UsageError } from "../support/arguments.ts";
import { type Asked, asked } from "./arguments.ts";
import { catchPlants } from "./catch-plants.ts";
import { runInPool, servePool, type Verdict } from "./pool.ts";
import { quarterFigures } from "./quarter/figures.ts";
import { toRanges } from "./ranges.ts";
import { runSeed, type SeedResult } from "./run-seed.ts";
import { shorten } from "./shorten.ts";

const USAGE = `Runs the engine in a simulated world, one seed after the other.

  npm run simulate -- --seeds A..B            runs these seeds, also 1..20,107
                      --seconds S             begins none after that time
  npm run simulate -- --seconds S             runs seeds from 1 on, for so long
  npm run simulate -- --seed N --trace        runs one, and tells what happened in it
                      --without 3,7..9        leaves out these faults, as a failing seed's command says
  npm run simulate -- --planted               puts in one bug after the other: each must be caught
                      --seeds A..B            within these seeds; default: 1..300
  npm run simulate -- --plant NAME            puts in one, until it is caught
                      --seeds A..B            within these seeds; or --seed N --trace
  npm run simulate -- --quarter               runs thirteen weekly runs on real clocks, and counts
                      --weeks N --bills N     fewer of them; --first-run YYYY-MM-DD
                      --polls                 without webhooks

Exit code: 0 no rule was broken (with --planted: each bug was caught), 1 otherwise, 2 wrong usage.
`;

const HELP = "npm run simulate -- --help says what there is; options come after the “--”.";

/** Lines of a failing trace that are shown by default. */
const SHOWN_LINES = 80;

/** @returns exit code: 1 if a seed has broken a rule, 2 if the command line can't be read */
export async function simulate(args: readonly string[]): Promise<number> {
  try {
    return await run(asked(args));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`simulate: ${error.message}\n${HELP}\n`);
    return 2;
  }
}

async function run(wanted: Asked): Promise<number> {
  switch (wanted.kind) {
    case "help":
      print(USAGE);
      return 0;
    case "serve":
      return servePool();
    case "quarter":
      print(await quarterFigures(wanted.plan));
      return 0;
    case "planted":
      return catchPlants(wanted.seeds);
    case "plant":
      return runUntilCaught(wanted.seeds);
    case "one":
      return runOne(wanted.seed, wanted.without, wanted.traces);
    case "many":
      return runMany(wanted.seeds, wanted.seconds);
  }
}

async function runOne(
  seed: number,
  without: ReadonlySet<number>,
  traces: boolean,
): Promise<number> {
  const result = await runSeed(seed, { without });
  if (traces) print(traceOf(result));
  print(`seed ${seed}: ${result.violation ?? "no violation"}`);
  print(`${result.steps} steps, ${result.faults} faults, fingerprint ${result.fingerprint}`);
  return ended(1, result.violation === undefined ? 0 : 1);
}

async function runMany(seeds: Iterable<number>, seconds: number): Promise<number> {
  const untilMs = performance.now() + seconds * 1_000;
  const broken: Verdict[] = [];
  let count = 0;
  await runInPool(
    seeds,
    () => performance.now() >= untilMs,
    (verdict) => {
      count += 1;
      if (verdict.violation === undefined) return;
      broken.push(verdict);
      print(`seed ${verdict.seed}: ${verdict.violation}`);
    },
  );
  // People read one trace at a time.
  const [first, ...others] = broken.sort((a, b) => a.seed - b.seed);
  if (first !== undefined) await explain(await runSeed(first.seed));
  for (const { seed } of others) print(`  npm run simulate -- --seed ${seed} --trace`);
  return ended(count, broken.length);
}

/** Runs seeds until the first rule is broken, which catches a planted bug; it needs no trace. */
async function runUntilCaught(seeds: Iterable<number>): Promise<number> {
  let count = 0;
  let violations = 0;
  for (const seed of seeds) {
    const { violation, rule } = await runSeed(seed);
    count += 1;
    if (violation === undefined) continue;
    violations += 1;
    print(`seed ${seed}: ${violation}`);
    if (rule !== "crash") break;
  }
  return ended(count, violations);
}

async function explain(found: SeedResult): Promise<void> {
  const { result, without } = await shorten(found);
  const left = without.size === 0 ? "" : ` --without ${toRanges(without)}`;
  print(
    traceOf({ ...result, told: concerning(result) })
      .split("\n")
      .slice(-SHOWN_LINES)
      .join("\n"),
  );
  print(`To see it again: npm run simulate -- --seed ${found.seed} --trace${left}`);
}

function traceOf({ told }: SeedResult): string {
  return told
    .map(({ atMs, who, what }) => `  ${new Date(atMs).toISOString()} ${who}: ${what}`)
    .join("\n");
}

/** Returns the parts of a trace about one bill and the processes. */
function concerning({ told, about }: SeedResult): SeedResult["told"] {
  if (about === "") return told;
  const others = /bill_\d+/;
  const mine = new RegExp(`${about}\\b`);
  return told.filter(({ what }) => what !== "ends" && (mine.test(what) || !others.test(what)));
}

function ended(count: number, violations: number): number {
  print(`${count} seeds, ${violations} violations`);
  return violations === 0 ? 0 : 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
