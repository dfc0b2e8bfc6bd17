import type { ExpressionBuilder } from "kysely";
import { ENDED_LINE_STATES } from "../../contracts/pay-run.ts";
import type { Tables } from "../schema/tables.ts";
import { is } from "../sql/is-in.ts";

type OfLines = ExpressionBuilder<Tables, "run_lines">;

/** Why a line is parked that nobody approved in time. */
export const UNAPPROVED = "approval-expired";

/**
 * True where the next run plans the bill of a parked line, or another one has it or has had it
 * since, whatever became of it there: its retry has ended, or nobody approved it in time, and then
 * its run hasn't sent it.
 */
export function isGivenBack(eb: OfLines) {
  const ended = eb
    .selectFrom("retries")
    .select("retries.workflow_id")
    .whereRef("retries.business_id", "=", "run_lines.business_id")
    .whereRef("retries.payable_id", "=", "run_lines.payable_id")
    .whereRef("retries.run_id", "=", "run_lines.run_id")
    .where("retries.phase", "=", "ended");
  return eb.or([eb("run_lines.reason_code", "=", UNAPPROVED), eb.exists(ended), isTakenUp(eb)]);
}

/**
 * True where another run has the bill of a line, or has had it since. A run that only plans has
 * none: it skips every line.
 */
export function isTakenUp(eb: OfLines) {
  return eb.exists(takenUpBy(eb));
}

/** The run that has the bill of a line, or has had it since; the last of several comes first. */
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
        of("other.state", "not in", ENDED_LINE_STATES),
        of("other.updated_at_ms", ">", of.ref("run_lines.updated_at_ms")),
      ]),
    )
    .orderBy("other.updated_at_ms", "desc")
    .limit(1);
}

/** True for a line that a person must act on: one that is parked and was not given back. */
export function waitsForPerson(eb: OfLines) {
  return eb.and([is("run_lines.state", "parked"), eb.not(isGivenBack(eb))]);
}
