import type { CashDay, PlanLine, PlanSummary } from "../contracts/pay-run.ts";

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
    flaggedCount: summary.flaggedCount - flagged(before) + flagged(after),
    decideBy: earlier(summary.decideBy, after.decideBy),
    cash: moveCash(summary.cash, before, after),
  };
}

function flagged(line: PlanLine): number {
  return line.flags.length > 0 ? 1 : 0;
}

function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return Date.parse(b) < Date.parse(a) ? b : a;
}

/** Takes the old line's money out of its day and puts the new one's into its own. */
function moveCash(days: readonly CashDay[], before: PlanLine, after: PlanLine): CashDay[] {
  const without = shift(days, before.executionDate, before.overLimit ? 0 : -before.amountCents);
  return shift(without, after.executionDate, after.overLimit ? 0 : after.amountCents);
}

function shift(days: readonly CashDay[], date: string, cents: number): CashDay[] {
  if (cents === 0) return [...days];
  const known = days.some((day) => day.date === date);
  const sorted = known ? [...days] : withDay(days, date);
  return sorted.map((day) => ({
    date: day.date,
    neededCents: day.date === date ? day.neededCents + cents : day.neededCents,
    // What is left after a day is less for every day that follows as well.
    leftCents: day.leftCents === null || day.date < date ? day.leftCents : day.leftCents - cents,
  }));
}

function withDay(days: readonly CashDay[], date: string): CashDay[] {
  const earlierDays = days.filter((day) => day.date < date);
  const laterDays = days.filter((day) => day.date > date);
  const last = earlierDays.at(-1);
  const next = laterDays[0];
  const leftBefore =
    last?.leftCents ??
    (next === undefined || next.leftCents === null ? null : next.leftCents + next.neededCents);
  return [...earlierDays, { date, neededCents: 0, leftCents: leftBefore }, ...laterDays];
}
