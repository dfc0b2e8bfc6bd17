import { LINE, type LineState, stateIs } from "../../contracts/line-states.ts";
import type { RunPhase } from "../../contracts/pay-run.ts";
import { type BillSum, counted, NOTHING } from "../counted.ts";
import { formatUsd } from "../money.ts";

type Sums = Readonly<Partial<Record<LineState, BillSum>>>;

/**
 * Returns a run's phase as it is now: banks take money back weeks later, and a run that completed
 * then has exceptions after all.
 */
export function phaseNow(phase: RunPhase, byState: Sums): RunPhase {
  const cameBack = LINE.cameBack.some((state) => (byState[state]?.count ?? 0) > 0);
  return phase === "completed" && cameBack ? "completed-with-exceptions" : phase;
}

/**
 * Describes, as part of a sentence, the outcome of a run that completed without paying some of its
 * bills; undefined if its phase says it all.
 */
export function calledBackText(phase: RunPhase, byState: Sums): string | undefined {
  if (phase !== "completed" && phase !== "completed-with-exceptions") return undefined;
  const all = Object.values(byState).reduce((sum, { count }) => sum + count, 0);
  const [cancelled, refunded] = [byState.cancelled ?? NOTHING, byState.refunded ?? NOTHING];
  const count = cancelled.count + refunded.count;
  if (count === 0) return undefined;
  const cents = formatUsd(cancelled.cents + refunded.cents);
  const were = `${count === 1 ? "was" : "were"} called back or left out`;
  if (count < all) {
    const some = `${counted(count, "bill")} of ${all}, ${cents}, ${were}`;
    return phase === "completed" ? some : `${some}${unsettledText(byState)}`;
  }
  const whole = count === 1 ? "its one bill" : `all of its ${counted(count, "bill")}`;
  return `nothing of it was paid: ${whole}, ${cents}, ${were}`;
}

/** Returns `; 5 more, $23,228.47, have not settled`: they are why the run has exceptions. */
function unsettledText(byState: Sums): string {
  const others = Object.entries(byState).filter(
    ([state]) => state !== "settled" && !stateIs("calledBack", state),
  );
  const count = others.reduce((sum, [, bills]) => sum + bills.count, 0);
  if (count === 0) return "";
  const cents = others.reduce((sum, [, bills]) => sum + bills.cents, 0);
  const have = count === 1 ? "has" : "have";
  return `; ${count.toLocaleString("en-US")} more, ${formatUsd(cents)}, ${have} not settled`;
}
