import type { LineState } from "../../contracts/pay-run.ts";
import { type BillSum, NOTHING } from "../counted.ts";
import { formatUsd, sumCents } from "../money.ts";
import { onItsWayCents, type PaymentAmount } from "./owed.ts";

/** What of a line's amount has settled, what is on its way, and what neither has nor is. */
export interface LineParts {
  readonly settledCents: number;
  readonly onItsWayCents: number;
  readonly openCents: number;
}

/** A line's amount, with its parts where it has several. */
export interface LineInParts {
  readonly state: LineState;
  readonly amountCents: number;
  readonly parts?: LineParts | undefined;
}

/** States of lines whose payments, the service says, go their way. */
export const SENT: readonly LineState[] = ["scheduled", "held", "processing"];

/** States that a payment may be on its way in. */
const MOVING: readonly LineState[] = [...SENT, "paying", "unknown", "retrying"];

/**
 * The parts of a line that was paid in several payments, or of which the service made only some;
 * undefined where all of it has gone one way, so that its state says enough.
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
 * What of a line counts in which state. What has settled has settled, whatever the rest waits for;
 * what has failed needs a person, while the rest is on its way.
 */
function sharesOf({ state, amountCents, parts }: LineInParts): (readonly [LineState, number])[] {
  if (parts === undefined) return [[state, amountCents]];
  const shares: (readonly [LineState, number])[] = [
    ["settled", parts.settledCents],
    [MOVING.includes(state) ? state : "processing", parts.onItsWayCents],
    [SENT.includes(state) ? "parked" : state, parts.openCents],
  ];
  return shares.filter(([, cents]) => cents > 0);
}

/** What of a line counts in this state. */
export function centsIn(state: LineState, line: LineInParts): number {
  return sumCents(sharesOf(line).map(([own, cents]) => (own === state ? cents : 0)));
}

/** What of a line is in its own state: of a parked one what a person must act on. */
export function centsInState(line: LineInParts): number {
  return centsIn(line.state, line);
}

/** What of a line is in its own state, as people are told it: `$100,000.00 of $138,750.00`. */
export function amountTold(line: LineInParts): string {
  const [part, whole] = [formatUsd(centsInState(line)), formatUsd(line.amountCents)];
  return part === whole ? whole : `${part} of ${whole}`;
}

type Sums = Partial<Record<LineState, BillSum>>;

/** Sums by state of these lines: each is counted in its own state, its parts where they are. */
export function sumsOfLines(lines: readonly LineInParts[]): Sums {
  const sums: Sums = {};
  for (const { state, amountCents } of lines) {
    const { count, cents } = sums[state] ?? NOTHING;
    sums[state] = { count: count + 1, cents: cents + amountCents };
  }
  return withParts(sums, lines);
}

/** The same sums with the parts of these lines where they are, instead of in the lines' states. */
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
