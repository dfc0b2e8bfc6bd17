import type { TopUpStatus } from "../../api/deposits.ts";
import type { Db } from "../../store/index.ts";
import { approversOfTopUp } from "../../store/deposits/deposit-approvals.ts";
import type { TopUp } from "../../store/deposits/deposits.ts";

/** Returns a deposit as the API shows it. */
export async function topUpJson(db: Db, topUp: TopUp, businessMs: number): Promise<TopUpStatus> {
  const { amountCents, neededOn, makeBy, arrivesOn, late, account, approvers, quorum } = topUp;
  const { subject: id, state, hash, transactionId, reason } = topUp;
  const approvedBy = await approversOfTopUp(db, topUp, businessMs);
  return {
    id,
    state,
    hash,
    amountCents,
    neededOn,
    makeBy,
    arrivesOn,
    late,
    account,
    approvers,
    quorum,
    approvedBy,
    transactionId,
    reason,
  };
}
