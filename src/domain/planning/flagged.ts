import { daysBetween } from "../clock/dates.ts";

/**
 * True if a person should look at the line before it is paid.
 *
 * Being late is no reason: in the week after a holiday half of all bills are late, and the few that
 * matter would be hidden among them.
 */
export function isFlagged(line: { readonly flags: readonly { readonly kind: string }[] }): boolean {
  return line.flags.some((flag) => flag.kind !== "late");
}

/** Returns the calendar days from a line's due date to its arrival; 0 if it is not late. */
export function daysLate({
  dueDate,
  arrivalDate,
}: {
  readonly dueDate: string | null;
  readonly arrivalDate: string | null;
}): number {
  return dueDate === null || arrivalDate === null
    ? 0
    : Math.max(0, daysBetween(dueDate, arrivalDate));
}
