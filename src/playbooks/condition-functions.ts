import { scan, SCALAR, searchCost, type Size, textOf } from "./condition-sizes.ts";
import type { Fault } from "./problem.ts";
import { suggest } from "../domain/suggest.ts";

/** A missing argument. */
export const MISSING_SIZE: Size = textOf(0);

interface Call {
  readonly steps: number;
  readonly gives: Size;
}

/** The cost of a function and the largest size of its result, from its receiver and arguments. */
type Cost = (one: Size, other: Size) => Call;

const searched: Cost = (text, part) => ({ steps: searchCost(text, part), gives: SCALAR });
const compared: Cost = (_, part) => ({ steps: scan(part), gives: SCALAR });
// A few characters become three in another case.
const recased: Cost = ({ length }) => ({ steps: length / 16, gives: textOf(3 * length) });
const cut: Cost = ({ length }) => ({ steps: length / 8, gives: textOf(length) });
const read: Cost = ({ length }) => ({ steps: length / 16, gives: textOf(Math.max(40, length)) });
const ofTimeZone: Cost = (_, zone) => ({
  steps: zone === MISSING_SIZE ? 10 : 1_000,
  gives: SCALAR,
});

/** Functions by name, except loops and `matches`. */
export const CALLS: ReadonlyMap<string, Cost> = new Map<string, Cost>([
  ["contains", searched],
  ["startsWith", compared],
  ["endsWith", compared],
  ["lowerAscii", recased],
  ["upperAscii", recased],
  ["trim", cut],
  ["substring", cut],
  ["indexOf", searched],
  ["lastIndexOf", searched],
  [
    "split",
    (text, part) => ({
      steps: searchCost(text, part) + text.length / 8,
      gives: { length: text.length + 1, entry: text.length + 1, whole: 2 * text.length + 2 },
    }),
  ],
  [
    "join",
    (list, by) => {
      const length = list.whole + list.length * by.length;
      return { steps: list.length + length / 16, gives: textOf(length) };
    },
  ],
  ["size", (of) => ({ steps: scan(of), gives: SCALAR })],
  ["has", () => ({ steps: 1, gives: SCALAR })],
  ["int", read],
  ["string", read],
  ["double", read],
  ["timestamp", read],
  // The library's own pattern for durations backtracks.
  ["duration", ({ length }) => ({ steps: length ** 3 / 100, gives: SCALAR })],
  ...[
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
  ].map((name): [string, Cost] => [name, ofTimeZone]),
]);

/** Functions that run a part of the condition for each entry of a list. */
export const LOOPS: readonly string[] = ["exists", "exists_one", "all", "filter", "map"];

/** Everything that a condition may call. */
export const FUNCTIONS: readonly string[] = [...CALLS.keys(), "matches", ...LOOPS];

/** Functions that never fail on any bill; the others may, and composing a failure takes long. */
export const NEVER_FAIL: ReadonlySet<string> = new Set([
  "contains",
  "startsWith",
  "endsWith",
  "matches",
  "lowerAscii",
  "upperAscii",
  "trim",
  "size",
  "split",
  "string",
]);

/** Explains that no condition may call a function. */
export function noSuchFunction(name: string): Fault {
  if (name === "dyn") {
    return {
      message: "`dyn` would switch the type check off",
      expected: "a condition without dyn",
    };
  }
  const guess = suggest(name, FUNCTIONS);
  return {
    message: `there is no function \`${name}\``,
    expected: `one of ${FUNCTIONS.join(", ")}`,
    ...(guess === undefined ? {} : { didYouMean: guess }),
  };
}
