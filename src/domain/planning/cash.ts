import type { CashDay } from "../../contracts/pay-run.ts";

interface CashLine {
  readonly executionDate: string;
  readonly dueDate: string | null;
  readonly amountCents: number;
  readonly payableId: string;
}

/**
 * Sorts the most urgent first: by execution date, then due date, then smaller amount, so that
 * scarce money pays as many bills in time as it can. The order is total: equal plans sort equally.
 */
export function byUrgency(a: CashLine, b: CashLine): number {
  return (
    compareText(a.executionDate, b.executionDate) ||
    compareText(a.dueDate ?? "9999", b.dueDate ?? "9999") ||
    a.amountCents - b.amountCents ||
    compareText(a.payableId, b.payableId)
  );
}

/**
 * Returns the money needed on each execution date, and what the source has left after it.
 *
 * @param availableCents null if the source doesn't say; then nothing is known to be left
 * @param reservedCents reserved for payments that have not been debited yet
 */
export function cashByDay(
  lines: readonly { readonly executionDate: string; readonly amountCents: number }[],
  availableCents: number | null,
  reservedCents: number,
): CashDay[] {
  const needed = new Map<string, number>();
  for (const line of lines) {
    needed.set(line.executionDate, (needed.get(line.executionDate) ?? 0) + line.amountCents);
  }
  let left = availableCents === null ? null : availableCents - reservedCents;
  return [...needed.entries()]
    .sort(([a], [b]) => compareText(a, b))
    .map(([date, neededCents]) => {
      if (left !== null) left -= neededCents;
      return { date, neededCents, leftCents: left };
    });
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
