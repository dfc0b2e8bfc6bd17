import type { ExpressionBuilder } from "kysely";
import { ENDED_LINE_STATES } from "../../contracts/pay-run.ts";
import type { Tables } from "../schema/tables.ts";
import { is } from "../sql/is-in.ts";

type OfLines = ExpressionBuilder<Tables, "run_lines">;

/** Why a line is parked that nobody approved in time. */
export const UNAPPROVED = "approval-expired";

/**
 * True where the next run plans the bill of a parked line: its retry has ended, or nobody approved
 * it in time, and then its run hasn't sent it. It stays so where that next run's payment has failed
 * as well, and the retry is of that.
 */
export function isGivenBack(eb: OfLines) {
  const retry = eb
    .selectFrom("retries")
    .select("retries.workflow_id")
    .whereRef("retries.business_id", "=", "run_lines.business_id")
    .whereRef("retries.payable_id", "=", "run_lines.payable_id");
  const ended = retry
    .whereRef("retries.run_id", "=", "run_lines.run_id")
    .where("retries.phase", "=", "ended");
  const ofAnother = retry.whereRef("retries.run_id", "!=", "run_lines.run_id");
  return eb.or([
    eb("run_lines.reason_code", "=", UNAPPROVED),
    eb.exists(ended),
    eb.and([eb.exists(ofAnother), isTakenUp(eb)]),
  ]);
}

/**
 * True where another run has the bill of a line, or has had it since. A run that only plans has
 * none: it skips every line.
 */
export function isTakenUp(eb: OfLines) {
  return eb.exists(
    eb
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
      ),
  );
}

/**
 * True for a line that a person must act on: one that is parked and stands for its bill now, not what
 * a later run has taken up, nor what was given back for the next run.
 */
export function waitsForPerson(eb: OfLines) {
  return eb.and([is("run_lines.state", "parked"), eb.not(isGivenBack(eb)), eb.not(isTakenUp(eb))]);
}
