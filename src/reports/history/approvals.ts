import { IDENTITY_PREFIX } from "../../domain/approvals/session.ts";
import type { VerifiedBankChange } from "../../domain/approvals/bank-changes.ts";
import type { Db } from "../../store/index.ts";

/** Who approved a bill, first to last: on which plan, in which role, by what proof. */
export async function approvalsOf(db: Db, businessId: string, payableId: string) {
  const rows = await approvalRows(db)
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
  return rows.map((row) => approvalJson(row, row.contact_id));
}

/** Who approved a deposit as it was asked for last; `planHash` and `lineHash` are the deposit's. */
export async function approvalsOfDeposit(
  db: Db,
  { subject, hash }: { readonly subject: string; readonly hash: string },
) {
  const rows = await approvalRows(db)
    .where("line_approvals.run_id", "=", subject)
    .where("line_approvals.line_hash", "=", hash)
    .execute();
  return rows.map((row) => approvalJson(row, null));
}

function approvalRows(db: Db) {
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

type ApprovalRow = Awaited<ReturnType<ReturnType<typeof approvalRows>["execute"]>>[number];

/** @param contactId the vendor whose account may have changed; null where it is about no bill */
function approvalJson(row: ApprovalRow, contactId: string | null) {
  const verified = (JSON.parse(row.bank_changes) as VerifiedBankChange[]).find(
    (change) => change.contactId === contactId,
  );
  return {
    runId: row.run_id,
    by: row.principal,
    roles: JSON.parse(row.roles) as string[],
    proof: proofOf(row.token_id ?? ""),
    proofId: row.token_id,
    at: new Date(row.decided_at_ms).toISOString(),
    expiresAt: new Date(row.expires_at_ms).toISOString(),
    decisionId: row.decision_id,
    planHash: row.plan_hash,
    lineHash: row.line_hash,
    /** From 1; 1 as well where the rule asks one quorum. */
    stage: row.stage + 1,
    escalated: row.escalated === 1,
    alone: row.alone === 1,
    comment: row.comment,
    verifiedBankChange:
      verified === undefined ? null : { person: verified.person, phone: verified.phone },
  };
}

/** By what the approver was known: a signing key, a company's own sign-in, a token. */
function proofOf(tokenId: string): "signature" | "sign-in" | "token" {
  if (tokenId.startsWith("key/")) return "signature";
  return tokenId.startsWith(IDENTITY_PREFIX) ? "sign-in" : "token";
}

export type BillApproval = ReturnType<typeof approvalJson>;
