import type { CashDay, PlanLine, PlanSummary } from "../contracts/pay-run.ts";
import { isOdd } from "../domain/planning/odd-lines.ts";
import { cashByDay } from "../domain/planning/cash.ts";

/** The summary of a plan in which one line was replaced. */
export function replanSummary(
  summary: PlanSummary,
  before: PlanLine,
  after: PlanLine,
  planHash: string,
): PlanSummary {
  return {
    ...summary,
    planHash,
    totalCents: summary.totalCents - before.amountCents + after.amountCents,
    flaggedCount: summary.flaggedCount - oddness(before) + oddness(after),
    decideBy: earlier(summary.decideBy, after.decideBy),
    cash: moveCash(summary, before, after),
  };
}

function oddness(line: PlanLine): number {
  return isOdd(line) ? 1 : 0;
}

function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return Date.parse(b) < Date.parse(a) ? b : a;
}

/**
 * Takes the old line's money out of its day and puts the new one's into its own; lines above a
 * limit need no money.
 */
function moveCash(summary: PlanSummary, before: PlanLine, after: PlanLine): CashDay[] {
  const needs = summary.cash.map((day) => ({
    executionDate: day.date,
    amountCents: day.neededCents,
  }));
  if (before.overLimit === null) {
    needs.push({ executionDate: before.executionDate, amountCents: -before.amountCents });
  }
  if (after.overLimit === null) {
    needs.push({ executionDate: after.executionDate, amountCents: after.amountCents });
  }
  return cashByDay(needs, summary.availableCents, summary.reservedCents).filter(
    (day) => day.neededCents > 0,
  );
}
