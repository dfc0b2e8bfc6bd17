import type { CashDay } from "../../contracts/pay-run.ts";

interface CashLine {
  readonly executionDate: string;
  readonly dueDate: string | null;
  readonly amountCents: number;
  readonly payableId: string;
}

/**
 * Most urgent first: by execution date, then due date, then the smaller amount, so that money that
 * runs short pays as many bills in time as it can. A total order: equal plans sort equally.
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
 * Money needed on each execution date, and what is left of the source after it.
 *
 * @param availableCents null where the source does not tell; then nothing is known to be left
 * @param reservedCents promised already to payments that have not been taken out of it yet
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
