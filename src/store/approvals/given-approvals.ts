import { readerOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";

/**
 * Returns all approvals that a payable's lines were ever given, first to last, with the line's
 * vendor.
 */
export async function approvalsOfPayable(db: Db, businessId: string, payableId: string) {
  const rows = await approvals(db)
    .innerJoin("runs", "runs.run_id", "line_approvals.run_id")
    .innerJoin("run_lines", (join) =>
      join
        .onRef("run_lines.run_id", "=", "line_approvals.run_id")
        .onRef("run_lines.payable_id", "=", "line_approvals.payable_id"),
    )
    .select("run_lines.contact_id")
    .where("runs.business_id", "=", businessId)
    .where("line_approvals.payable_id", "=", payableId)
    .execute();
  return rows.map(readerOf("decisions"));
}

/**
 * Returns the approvals of exactly one line of a run or deposit, which is identified by its hash.
 */
export async function approvalsOfHash(
  db: Db,
  { subject, hash }: { readonly subject: string; readonly hash: string },
) {
  const rows = await approvals(db)
    .where("line_approvals.run_id", "=", subject)
    .where("line_approvals.line_hash", "=", hash)
    .execute();
  return rows.map(readerOf("decisions"));
}

function approvals(db: Db) {
  return db
    .selectFrom("line_approvals")
    .innerJoin("decisions", "decisions.decision_id", "line_approvals.decision_id")
    .select([
      "line_approvals.run_id",
      "line_approvals.principal",
      "line_approvals.line_hash",
      "line_approvals.expires_at_ms",
      "line_approvals.stage",
      "line_approvals.escalated",
      "decisions.decision_id",
      "decisions.decided_at_ms",
      "decisions.plan_hash",
      "decisions.roles",
      "decisions.token_id",
      "decisions.comment",
      "decisions.bank_changes",
      "decisions.alone",
    ])
    .orderBy("decisions.decided_at_ms");
}
