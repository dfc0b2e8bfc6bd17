import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import { daysBetween } from "../clock/dates.ts";

type Flagged = { readonly flags: readonly { readonly kind: string }[] };

/**
 * True if a person should look at the line before it is paid.
 *
 * Being late is no reason: in the week after a holiday half of all bills are late, and the few that
 * matter would be hidden among them. Nor is a changed record, since a nightly sync may change all
 * of them.
 */
export function isFlagged({ flags }: Flagged): boolean {
  return flags.some(({ kind }) => kind !== "late" && kind !== "changed-record");
}

/** True if the record of the line's vendor has changed since the last settled payment to it. */
export function hasChangedRecord({ flags }: Flagged): boolean {
  return flags.some(({ kind }) => kind === "changed-record");
}

/**
 * True if a line needs the rule for flagged bills: for one of the playbook's review reasons,
 * because it changed after they were judged, or because a person has rejected it before, which no
 * playbook can overlook.
 */
export function isInReview(
  flags: Flagged["flags"],
  { review }: Pick<PayRunPlaybook, "review">,
): boolean {
  const judged = review.length === 0 ? [] : [...review, "changed-since-plan"];
  const asking: readonly string[] = ["rejected-before", ...judged];
  return flags.some(({ kind }) => asking.includes(kind));
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
