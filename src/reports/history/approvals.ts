import { IDENTITY_PREFIX } from "../../domain/approvals/session.ts";
import { approvalsOfHash, approvalsOfPayable } from "../../store/approvals/given-approvals.ts";
import type { Db } from "../../store/index.ts";

/** Who approved a bill, first to last: on which plan, in which role, by what proof. */
export async function approvalsOf(db: Db, businessId: string, payableId: string) {
  const given = await approvalsOfPayable(db, businessId, payableId);
  return given.map((approval) => approvalJson(approval, approval.contactId));
}

/** Who approved a deposit as it was asked for last; `planHash` and `lineHash` are the deposit's. */
export async function approvalsOfDeposit(
  db: Db,
  deposit: { readonly subject: string; readonly hash: string },
) {
  const given = await approvalsOfHash(db, deposit);
  return given.map((approval) => approvalJson(approval, null));
}

type GivenApproval = Awaited<ReturnType<typeof approvalsOfHash>>[number];

/** @param contactId the vendor whose account may have changed; null where it is about no bill */
function approvalJson(given: GivenApproval, contactId: string | null) {
  const verified = given.bankChanges.find((change) => change.contactId === contactId);
  return {
    runId: given.runId,
    by: given.principal,
    roles: given.roles,
    proof: proofOf(given.tokenId ?? ""),
    proofId: given.tokenId,
    at: new Date(given.decidedAtMs).toISOString(),
    expiresAt: new Date(given.expiresAtMs).toISOString(),
    decisionId: given.decisionId,
    planHash: given.planHash,
    lineHash: given.lineHash,
    /** From 1; 1 as well where the rule asks one quorum. */
    stage: given.stage + 1,
    escalated: given.escalated === 1,
    alone: given.alone,
    comment: given.comment,
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
