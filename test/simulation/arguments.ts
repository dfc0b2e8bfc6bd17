import { parseArgs } from "node:util";
import { UsageError, usageFault, wholeNumber } from "../support/arguments.ts";
import { PLANTS } from "./plants/plants.ts";
import type { QuarterPlan } from "./quarter/quarter.ts";
import { fromRanges } from "./ranges.ts";

/** What a command line requests. */
export type Asked =
  | { readonly kind: "help" }
  /** A child process of the pool, which runs the seeds that it is sent. */
  | { readonly kind: "serve" }
  | {
      readonly kind: "one";
      readonly seed: number;
      readonly without: ReadonlySet<number>;
      readonly traces: boolean;
    }
  | { readonly kind: "many"; readonly seeds: Iterable<number>; readonly seconds: number }
  | { readonly kind: "plant"; readonly seeds: Iterable<number> }
  | { readonly kind: "planted"; readonly seeds: string }
  | { readonly kind: "quarter"; readonly plan: Partial<QuarterPlan> };

const OPTIONS = {
  seed: { type: "string" },
  seeds: { type: "string" },
  seconds: { type: "string" },
  without: { type: "string" },
  plant: { type: "string" },
  planted: { type: "boolean" },
  trace: { type: "boolean" },
  quarter: { type: "boolean" },
  weeks: { type: "string" },
  bills: { type: "string" },
  "first-run": { type: "string" },
  polls: { type: "boolean" },
  help: { type: "boolean" },
  serve: { type: "boolean" },
} as const;

/** The options that go with each main option; the first main option that is given counts. */
const GOES_WITH = {
  help: Object.keys(OPTIONS),
  serve: [],
  quarter: ["weeks", "bills", "first-run", "polls"],
  planted: ["seeds"],
  seed: ["without", "trace", "plant"],
  plant: ["seeds"],
  seeds: ["seconds"],
  seconds: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;
type Main = keyof typeof GOES_WITH;

const SEEDS_OF_PLANTS = "1..300";

/** @throws {UsageError} */
export function asked(args: readonly string[]): Asked {
  const values = parsed(args);
  const main = (Object.keys(GOES_WITH) as Main[]).find((name) => values[name] !== undefined);
  if (main === undefined) {
    throw new UsageError("say what to run: --seeds, --seconds, --seed, --planted or --quarter");
  }
  const others: readonly string[] = GOES_WITH[main];
  const strange = Object.keys(values).find((name) => name !== main && !others.includes(name));
  if (strange !== undefined) throw new UsageError(`--${strange} says nothing beside --${main}`);
  if (values.plant !== undefined) checkPlant(values.plant);
  const seeds = values.seeds === undefined ? undefined : numbers("seeds", values.seeds);
  switch (main) {
    case "help":
    case "serve":
      return { kind: main };
    case "quarter":
      return { kind: main, plan: quarterOf(values) };
    case "planted":
      return { kind: main, seeds: values.seeds ?? SEEDS_OF_PLANTS };
    case "seed": {
      const without = values.without === undefined ? [] : numbers("without", values.without);
      const seed = wholeNumber("seed", values.seed ?? "", 0);
      return { kind: "one", seed, without: new Set(without), traces: values.trace === true };
    }
    case "plant":
      return { kind: main, seeds: seeds ?? endless() };
    case "seeds":
    case "seconds":
      return { kind: "many", seeds: seeds ?? endless(), seconds: secondsOf(values.seconds) };
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(usageFault(error));
  }
}

function checkPlant(name: string): void {
  const names = PLANTS.map((plant) => plant.name);
  if (names.includes(name)) return;
  throw new UsageError(`there is no planted bug “${name}”; there are ${names.join(", ")}`);
}

function numbers(name: string, text: string): number[] {
  try {
    return fromRanges(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(`--${name}: ${error.message}`);
  }
}

function secondsOf(text: string | undefined): number {
  if (text === undefined) return Infinity;
  const seconds = text.trim() === "" ? NaN : Number(text);
  if (seconds > 0) return seconds;
  throw new UsageError(`--seconds must be a number above 0, not “${text}”`);
}

function quarterOf(values: ReturnType<typeof parsed>): Partial<QuarterPlan> {
  const { weeks, bills, "first-run": firstRun, polls } = values;
  if (firstRun !== undefined && !isDate(firstRun)) {
    throw new UsageError(`--first-run must be a date such as 2027-09-30, not “${firstRun}”`);
  }
  return {
    ...(weeks === undefined ? {} : { weeks: wholeNumber("weeks", weeks, 1) }),
    // One of a run's bills is held, and another one's payment is returned.
    ...(bills === undefined ? {} : { bills: wholeNumber("bills", bills, 2) }),
    ...(firstRun === undefined ? {} : { firstRun }),
    hasWebhooks: polls !== true,
  };
}

function isDate(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

function* endless(): Iterable<number> {
  for (let seed = 1; ; seed += 1) yield seed;
}
