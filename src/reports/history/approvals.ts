import { IDENTITY_PREFIX } from "../../domain/approvals/session.ts";
import { approvalsOfHash, approvalsOfPayable } from "../../store/approvals/given-approvals.ts";
import type { Db } from "../../store/index.ts";
import { hurriesOf } from "./deciders.ts";

/** Returns a bill's approvals, first to last: on which plan, in which role, by what proof. */
export async function approvalsOfBill(db: Db, businessId: string, payableId: string) {
  const given = await approvalsOfPayable(db, businessId, payableId);
  const runIds = [...new Set(given.map(({ runId }) => runId))];
  const hurries = await hurriesOf(db, businessId, runIds);
  return given.map((approval) => ({
    ...approvalJson(approval, approval.contactId),
    hurry: hurries.get(approval.decisionId) ?? null,
  }));
}

/**
 * Returns the approvals of a deposit in its latest form; `planHash` and `lineHash` are the
 * deposit's.
 */
export async function approvalsOfDeposit(
  db: Db,
  deposit: { readonly subject: string; readonly hash: string },
) {
  const given = await approvalsOfHash(db, deposit);
  return given.map((approval) => approvalJson(approval, null));
}

type GivenApproval = Awaited<ReturnType<typeof approvalsOfHash>>[number];

/**
 * @param contactId the vendor whose account may have changed; null if the approval is of no bill
 */
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
    /** From 1; also 1 if the rule requires a single quorum. */
    stage: given.stage + 1,
    escalated: given.escalated === 1,
    alone: given.alone,
    comment: given.comment,
    verifiedBankChange:
      verified === undefined ? null : { person: verified.person, phone: verified.phone },
    /** A deposit's approval is never hurried. */
    hurry: null as string | null,
  };
}

/**
 * Returns how the approver was identified: by a signing key, a company's own sign-in or a token.
 */
function proofOf(tokenId: string): "signature" | "sign-in" | "token" {
  if (tokenId.startsWith("key/")) return "signature";
  return tokenId.startsWith(IDENTITY_PREFIX) ? "sign-in" : "token";
}

export type BillApproval = ReturnType<typeof approvalJson>;
