import { sql } from "kysely";
import { readerOf } from "../sql/as-record.ts";
import { isToldOf } from "../payables/waits-for-person.ts";
import type { Db } from "../sql/db.ts";

/** A bill that a person must look at, of which nobody has been told. */
export interface UntoldLine {
  readonly payableId: string;
  readonly amountCents: number;
  readonly reasonCode: string | null;
  readonly reason: string | null;
  /** Roles that a playbook asks about its failure; none where no rule is kept. */
  readonly deciders: readonly string[];
  /** For `raiseTogether`; another one where the bill is parked again after another attempt. */
  readonly factKey: string;
}

/** Lines of a run that wait for a person and that no `parked` notice has told of, in the plan's order. */
export async function parkedUntold(
  db: Db,
  run: { readonly runId: string; readonly businessId: string },
): Promise<UntoldLine[]> {
  const factKey = sql<string>`run_lines.run_id || '/' || run_lines.payable_id || '/' ||
    coalesce(run_lines.reason_code, '') || '/' || run_lines.attempts`;
  const rows = await db
    .selectFrom("run_lines")
    .leftJoin("retry_cases", (join) =>
      join
        .onRef("retry_cases.business_id", "=", "run_lines.business_id")
        .onRef("retry_cases.payable_id", "=", "run_lines.payable_id"),
    )
    .select([
      "run_lines.payable_id",
      "run_lines.amount_cents",
      "run_lines.reason_code",
      "run_lines.reason",
      "retry_cases.rule",
      factKey.as("fact_key"),
    ])
    .where("run_lines.run_id", "=", run.runId)
    .where(isToldOf)
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
  return rows.map(readerOf("retry_cases")).map(({ rule, ...line }) => {
    return { ...line, deciders: rule?.by ?? [] };
  });
}
