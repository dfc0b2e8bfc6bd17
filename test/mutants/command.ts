import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { UsageError, usageFault, wholeNumber } from "../support/arguments.ts";
import { inCheckout } from "../../scripts/setup/set-up.mjs";
import { copyOf, unitTests } from "./copy.ts";
import type { Change } from "./changes.ts";
import { importsOf, testsOf } from "./importers.ts";
import { allChanges, checkoutFiles, harmlessChanges, sampleOf } from "./places.ts";
import { Trial, type Verdict } from "./trial.ts";

const USAGE = `Makes single changes of the money core, in a copy of the checkout, and runs the unit tests that
import the changed file. One of them should notice, or the types.

  npm run mutate -- --count N     tries so many changes; default: 20
                    --seed S      chooses them; default: 1
                    --only PATH   only changes of this folder or file
                    --change TEXT only this one: what the list of unnoticed changes has after the line's number
                    --limit S     seconds that the tests of a change may take; default: 1800

Exit code: 0 at least 90 % of the changes were noticed, 1 fewer, 2 wrong usage.
`;

const HELP = "npm run mutate -- --help says what there is; options come after the “--”.";

const OPTIONS = {
  count: { type: "string", default: "20" },
  seed: { type: "string", default: "1" },
  only: { type: "string" },
  change: { type: "string" },
  limit: { type: "string", default: "1800" },
  help: { type: "boolean", default: false },
} as const;

const LEAST_SCORE = 0.9;

/** @returns the exit code */
export async function mutate(args: readonly string[]): Promise<number> {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    if (!values.help) return await run(values);
    process.stdout.write(USAGE);
    return 0;
  } catch (error) {
    const fault = usageFault(error);
    if (fault === undefined) throw error;
    process.stderr.write(`mutate: ${fault}\n${HELP}\n`);
    return 2;
  }
}

async function run(asked: {
  readonly count: string;
  readonly seed: string;
  readonly limit: string;
  readonly only?: string | undefined;
  readonly change?: string | undefined;
}): Promise<number> {
  const count = wholeNumber("count", asked.count, 1);
  const seed = wholeNumber("seed", asked.seed, 0);
  const limitMs = 1000 * wholeNumber("limit", asked.limit, 1);
  const files = checkoutFiles().filter((file) => existsSync(inCheckout(file)));
  const changes = chosen(allChanges(files, asked.only), asked.change);
  const sample = sampleOf(changes, count, seed);
  const trial = new Trial(copyOf(files, limitMs));
  const tests = await unitTests();
  const imports = new Map(
    files
      .filter((file) => file.endsWith(".ts"))
      .map((file) => [file, importsOf(file, readFileSync(inCheckout(file), "utf8"))]),
  );
  const verdicts: Verdict[] = [];
  for (const change of sample) {
    const verdict = await trial.try(change, testsOf(change.file, tests, imports));
    verdicts.push(verdict);
    const by = verdict.by === "" ? "" : ` by ${verdict.by}`;
    print(`${verdicts.length}/${sample.length} ${verdict.came}${by}: ${shown(change)}`);
  }
  if (trial.unsound.length > 0)
    print(
      `\nNotice nothing, as they fail by themselves or only sometimes: ${trial.unsound.join(", ")}`,
    );
  print(`\n${report(verdicts)}`);
  return isEnough(verdicts) ? 0 : 1;
}

/** @throws {UsageError} if there is no change with the key */
function chosen(changes: readonly Change[], key: string | undefined): readonly Change[] {
  const harmless = harmlessChanges();
  if (key === undefined) return changes.filter((change) => !harmless.has(change.key));
  const found = changes.filter((change) => change.key.endsWith(key));
  if (found.length === 0) throw new UsageError(`--change: there is no change “${key}”`);
  return found;
}

/** Returns the score of each folder and of all, and then the changes that weren't noticed. */
export function report(verdicts: readonly Verdict[]): string {
  const folders = Map.groupBy(verdicts, ({ change }) => dirname(change.file));
  const rows = [...folders].sort(([a], [b]) => (a < b ? -1 : 1));
  const width = Math.max(0, ...rows.map(([folder]) => folder.length));
  const listed = (came: Verdict["came"], title: string) => {
    const of = verdicts.filter((verdict) => verdict.came === came);
    return of.length === 0 ? [] : ["", title, ...of.map(({ change }) => `  ${shown(change)}`)];
  };
  return [
    ...[...rows, ["all", verdicts] as const].map(([folder, of]) => {
      const { noticed, counted } = scoreOf(of);
      const percent = counted === 0 ? "" : ` (${Math.floor((100 * noticed) / counted)} %)`;
      return `${folder.padEnd(width)}  ${noticed} of ${counted} noticed${percent}`;
    }),
    ...listed("unnoticed", "Nothing noticed:"),
    ...listed("late", "Not counted, because their tests took too long:"),
  ].join("\n");
}

/** True if enough of the changes were noticed. */
export function isEnough(verdicts: readonly Verdict[]): boolean {
  const { noticed, counted } = scoreOf(verdicts);
  return noticed >= LEAST_SCORE * counted;
}

function scoreOf(verdicts: readonly Verdict[]) {
  const counted = verdicts.filter(({ came }) => came !== "late");
  const noticed = counted.filter(({ came }) => came === "noticed");
  return { noticed: noticed.length, counted: counted.length };
}

function shown({ file, line, key }: Change): string {
  return `${file}:${line} ${key.slice(file.length + 1)}`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
