import { LINE, type LineState } from "../../contracts/line-states.ts";
import { type BillSum, NOTHING } from "../counted.ts";
import { formatUsd, sumCents } from "../money.ts";
import { onItsWayCents, type PaymentAmount } from "./owed.ts";

/** A line's amount in three parts: what has settled, what is on its way, and the rest. */
export interface LineParts {
  readonly settledCents: number;
  readonly onItsWayCents: number;
  readonly openCents: number;
}

/** A line's state and amount, with the amount's parts if there are several. */
export interface LineInParts {
  readonly state: LineState;
  readonly amountCents: number;
  readonly parts?: LineParts | undefined;
}

/**
 * Returns the parts of a line that was paid in several payments, or for which the service made only
 * some. Undefined if the whole amount is one part, because the line's state then says enough.
 */
export function partsOf(
  amountCents: number,
  payments: readonly PaymentAmount[],
): LineParts | undefined {
  const completed = payments.filter(({ status }) => status === "completed");
  const settledCents = Math.min(amountCents, sumCents(completed.map((each) => each.amountCents)));
  const movingCents = Math.min(amountCents - settledCents, onItsWayCents(payments));
  const openCents = amountCents - settledCents - movingCents;
  const isWhole = [settledCents, movingCents, openCents].includes(amountCents);
  return isWhole ? undefined : { settledCents, onItsWayCents: movingCents, openCents };
}

/**
 * Splits a line's amount by the state in which each part counts. What has settled counts as
 * settled, regardless of what the rest waits for. What has failed while the rest is on its way
 * counts as parked, because it needs a person.
 */
function sharesOf({ state, amountCents, parts }: LineInParts): (readonly [LineState, number])[] {
  if (parts === undefined) return [[state, amountCents]];
  const shares: (readonly [LineState, number])[] = [
    ["settled", parts.settledCents],
    [
      LINE.sent.includes(state) || LINE.workedOn.includes(state) ? state : "processing",
      parts.onItsWayCents,
    ],
    [LINE.sent.includes(state) ? "parked" : state, parts.openCents],
  ];
  return shares.filter(([, cents]) => cents > 0);
}

/** Returns how many cents of a line count in this state. */
export function centsIn(state: LineState, line: LineInParts): number {
  return sumCents(sharesOf(line).map(([own, cents]) => (own === state ? cents : 0)));
}

/**
 * Returns how many cents of a line are in its own state. For a parked line, a person must act on
 * these.
 */
export function centsInState(line: LineInParts): number {
  return centsIn(line.state, line);
}

/**
 * Formats how much of a line is in its own state: `$100,000.00 of $138,750.00`, or the whole amount
 * alone.
 */
export function shownAmount(line: LineInParts): string {
  const [part, whole] = [formatUsd(centsInState(line)), formatUsd(line.amountCents)];
  return part === whole ? whole : `${part} of ${whole}`;
}

type Sums = Partial<Record<LineState, BillSum>>;

/** Sums these lines by state. Each line is counted in its own state, and its parts in theirs. */
export function sumsOfLines(lines: readonly LineInParts[]): Sums {
  const sums: Sums = {};
  for (const { state, amountCents } of lines) {
    const { count, cents } = sums[state] ?? NOTHING;
    sums[state] = { count: count + 1, cents: cents + amountCents };
  }
  return withParts(sums, lines);
}

/**
 * Returns these sums with each part of a line in the part's own state, instead of in the line's.
 */
export function withParts(sums: Sums, lines: readonly LineInParts[]): Sums {
  const found = { ...sums };
  for (const line of lines) {
    if (line.parts === undefined) continue;
    const own = found[line.state] ?? NOTHING;
    found[line.state] = { ...own, cents: own.cents - line.amountCents };
    for (const [state, cents] of sharesOf(line)) {
      const sum = found[state] ?? NOTHING;
      const parts = state === line.state ? sum.parts : (sum.parts ?? 0) + 1;
      const all = { count: sum.count, cents: sum.cents + cents };
      found[state] = parts === undefined ? all : { ...all, parts };
    }
  }
  return found;
}
