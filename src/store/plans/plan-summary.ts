import type { CashDay, PlanLine, PlanSummary } from "../../contracts/pay-run.ts";
import { isFlagged } from "../../domain/planning/flagged.ts";
import { cashByDay } from "../../domain/planning/cash.ts";

/** What a plan's summary needs to know of a line that was replaced by its next version. */
export interface Replaced {
  readonly before: LineFacts;
  readonly after: LineFacts;
}

interface LineFacts extends Pick<PlanLine, "amountCents" | "executionDate"> {
  readonly isFlagged: boolean;
  /** False for a line above a limit, which needs no money. */
  readonly isPaid: boolean;
}

export function replacedBy(before: PlanLine, after: PlanLine): Replaced {
  return { before: factsOf(before), after: factsOf(after) };
}

function factsOf(line: PlanLine): LineFacts {
  const { amountCents, executionDate } = line;
  return {
    amountCents,
    executionDate,
    isFlagged: isFlagged(line),
    isPaid: line.overLimit === null,
  };
}

/** Returns the summary of a plan in which these lines were replaced. */
export function replanSummary(
  summary: PlanSummary,
  lines: readonly Replaced[],
  plan: Pick<PlanSummary, "planHash" | "decideBy">,
): PlanSummary {
  let { totalCents, flaggedCount } = summary;
  for (const { before, after } of lines) {
    totalCents += after.amountCents - before.amountCents;
    flaggedCount += Number(after.isFlagged) - Number(before.isFlagged);
  }
  return { ...summary, ...plan, totalCents, flaggedCount, cash: moveCash(summary, lines) };
}

/** Subtracts the old lines' money from their days, and adds the new lines' money to theirs. */
function moveCash(summary: PlanSummary, lines: readonly Replaced[]): CashDay[] {
  const needs = summary.cash.map((day) => ({
    executionDate: day.date,
    amountCents: day.neededCents,
  }));
  for (const { before, after } of lines) {
    if (before.isPaid) needs.push({ ...before, amountCents: -before.amountCents });
    if (after.isPaid) needs.push(after);
  }
  return cashByDay(needs, summary.availableCents, summary.reservedCents).filter(
    (day) => day.neededCents > 0,
  );
}
