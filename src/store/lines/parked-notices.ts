import { sql } from "kysely";
import { readerOf } from "../sql/as-record.ts";
import { isGivenBack, isTakenUp } from "../payables/waits-for-person.ts";
import type { Db } from "../sql/db.ts";
import { is } from "../sql/is-in.ts";
import type { LineInParts } from "../../domain/payments/line-parts.ts";
import { linesWithParts } from "../payables/line-parts.ts";
import { toRunLine } from "./lines.ts";

/** A bill that its run goes on without, and that no notice has reported. */
export interface UnreportedLine extends LineInParts {
  readonly payableId: string;
  readonly reasonCode: string | null;
  readonly reason: string | null;
  /** True if it was given back; otherwise a person must look at it. */
  readonly isGivenBack: boolean;
  /** Roles that a playbook asks about its failure; empty if no rule is stored. */
  readonly deciders: readonly string[];
  /** For `raiseTogether`; a bill that is parked again after another attempt has another key. */
  readonly factKey: string;
}

/**
 * Returns the parked lines of a run that no `parked` notice has reported and no other run has taken
 * up, in plan order.
 */
export async function unreportedParked(
  db: Db,
  run: { readonly runId: string; readonly businessId: string },
): Promise<UnreportedLine[]> {
  const factKey = sql<string>`run_lines.run_id || '/' || run_lines.payable_id || '/' ||
    coalesce(run_lines.reason_code, '') || '/' || run_lines.attempts`;
  const rows = await db
    .selectFrom("run_lines")
    .leftJoin("retry_cases", (join) =>
      join
        .onRef("retry_cases.business_id", "=", "run_lines.business_id")
        .onRef("retry_cases.payable_id", "=", "run_lines.payable_id"),
    )
    .select((eb) => [
      "run_lines.payable_id",
      "run_lines.amount_cents",
      "run_lines.state",
      "run_lines.payment_ids",
      "run_lines.reason_code",
      "run_lines.reason",
      "retry_cases.rule",
      factKey.as("fact_key"),
      eb.case().when(isGivenBack(eb)).then(1).else(0).end().as("is_given_back"),
    ])
    .where("run_lines.run_id", "=", run.runId)
    .where((eb) => eb.and([is("run_lines.state", "parked"), eb.not(isTakenUp(eb))]))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("notice_facts")
            .select("notice_id")
            .where("business_id", "=", run.businessId)
            .where("kind", "=", "parked")
            .where("fact_key", "=", factKey),
        ),
      ),
    )
    .orderBy("line_no")
    .execute();
  const lines = rows.map(toRunLine).map(readerOf("retry_cases"));
  return (await linesWithParts(db, run.businessId, lines)).map(({ rule, ...line }) => {
    return { ...line, isGivenBack: Number(line.isGivenBack) === 1, deciders: rule?.by ?? [] };
  });
}
