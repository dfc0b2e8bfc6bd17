import { LINE, type LineState } from "../../contracts/line-states.ts";
import { NEW_YORK } from "../clock/new-york.ts";

/** Facts about a run's progress. */
export interface RunSoFar {
  readonly run: { readonly approveByMs: number | null };
  readonly counts: ReadonlyMap<LineState, { readonly count: number }>;
  /** Lines parked because they were not approved in time. */
  readonly expiredLines: number;
  /** Parked lines that were given back; missing for none. */
  readonly givenBackLines?: number;
  /** Number of returned payments by return code, the most frequent first. */
  readonly cameBack: ReadonlyMap<string, number>;
}

/** How many return codes are named. */
const CODES_NAMED = 3;

/**
 * Returns a run's progress in a few words: `40 of 57 approved, the rest until Sun, Nov 29, 11:59
 * PM; 12 settled, 1 returned R02`. Empty if there is none. What is scheduled or on the way is what
 * the run waits for, and isn't paid yet.
 */
export function runSoFar(soFar: RunSoFar): string {
  const { run, counts, expiredLines, cameBack } = soFar;
  const count = (...states: readonly LineState[]): number =>
    states.reduce((sum, state) => sum + (counts.get(state)?.count ?? 0), 0);
  const bills =
    [...counts.values()].reduce((sum, each) => sum + each.count, 0) - count(...LINE.unasked);
  const waiting = count("awaiting-approval");
  const parts: string[] = [];
  if (waiting > 0) {
    const until = run.approveByMs === null ? "" : `, the rest until ${dayAndTime(run.approveByMs)}`;
    parts.push(`${bills - waiting - expiredLines} of ${bills} approved${until}`);
  }
  const codes = [...cameBack]
    .slice(0, CODES_NAMED)
    .map(([code, many]) => `${many} returned ${code}`);
  const settled = count("settled");
  const forPerson = waitingForPerson(soFar);
  const ended = [
    ...(settled > 0 ? [`${settled} settled`] : []),
    ...codes,
    ...(forPerson > 0 ? [`${forPerson} for a person`] : []),
  ];
  if (ended.length > 0) parts.push(ended.join(", "));
  return parts.join("; ");
}

/** Counts the parked lines that a person must act on. */
function waitingForPerson({ counts, givenBackLines = 0 }: RunSoFar): number {
  return (counts.get("parked")?.count ?? 0) - givenBackLines;
}

const DAY_AND_TIME = new Intl.DateTimeFormat("en-US", {
  timeZone: NEW_YORK,
  weekday: "short",
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
});

function dayAndTime(ms: number): string {
  return DAY_AND_TIME.format(new Date(ms)).replaceAll("\u202F", " ");
}
