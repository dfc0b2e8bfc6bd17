import type { LineReason } from "../../contracts/reason-codes.ts";
import type { ExpressionBuilder } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import { CHANGED_RECORD } from "../../domain/approvals/changed-records.ts";
import type { Tables } from "../schema/tables.ts";
import { is } from "../sql/is-in.ts";

type OfLines = ExpressionBuilder<Tables, "run_lines">;

/** Reason code of a line that is parked because it was not approved in time. */
export const UNAPPROVED = "approval_expired" satisfies LineReason;

/**
 * True if the next run plans the bill of a parked line, or if another run has it or has had it
 * since, whatever came of it there. The next run plans it if its retry has ended, or if it was not
 * approved in time, in which case its run hasn't sent it.
 */
export function isGivenBack(eb: OfLines) {
  const ended = eb
    .selectFrom("retries")
    .select("retries.workflow_id")
    .whereRef("retries.business_id", "=", "run_lines.business_id")
    .whereRef("retries.payable_id", "=", "run_lines.payable_id")
    .whereRef("retries.run_id", "=", "run_lines.run_id")
    .where("retries.phase", "=", "ended");
  // Without a code the comparison would be null, and neither it nor its opposite true.
  const code = eb.fn.coalesce("run_lines.reason_code", eb.val(""));
  return eb.or([eb(code, "=", UNAPPROVED), eb.exists(ended), isTakenUp(eb)]);
}

/**
 * True if another run has the bill of a line, or has had it since. A run that only plans doesn't
 * count: it skips every line.
 */
export function isTakenUp(eb: OfLines) {
  return eb.exists(takenUpBy(eb));
}

/** Selects the run that has the bill of a line, or has had it since; the latest of several. */
export function takenUpBy(eb: OfLines) {
  return eb
    .selectFrom("run_lines as other")
    .select("other.run_id")
    .whereRef("other.business_id", "=", "run_lines.business_id")
    .whereRef("other.payable_id", "=", "run_lines.payable_id")
    .whereRef("other.run_id", "!=", "run_lines.run_id")
    .where("other.state", "!=", "skipped")
    .where((of) =>
      of.or([
        of("other.state", "not in", LINE.ended),
        of("other.updated_at_ms", ">", of.ref("run_lines.updated_at_ms")),
      ]),
    )
    .orderBy("other.updated_at_ms", "desc")
    .limit(1);
}

/** True for a line that a person must act on: it is parked and was not given back. */
export function waitsForPerson(eb: OfLines) {
  return eb.and([is("run_lines.state", "parked"), eb.not(isGivenBack(eb))]);
}

/** True for a failed bill that waits for a word about its vendor's record, even if its run has ended. */
export function isAskedRetry(eb: OfLines) {
  return eb.and([
    eb("run_lines.state", "=", "retrying"),
    eb("run_lines.reason_code", "=", CHANGED_RECORD),
  ]);
}
