import { attemptsOf } from "../../ledger/attempts.ts";
import { listAudit } from "../../store/audit/audit.ts";
import type { Db } from "../../store/index.ts";
import { topUpsOf } from "../../store/deposits/deposits.ts";
import { approvalsOfDeposit } from "./approvals.ts";
import { attemptJson } from "./attempts.ts";

/** A workflow that may have asked for a deposit, and since when it matters. */
export interface DepositOwner {
  readonly owner: string;
  /** Real time; requests that came to their end before are about something else. */
  readonly sinceMs: number;
}

/** Deposits into a funding source that were asked for so that a bill could be paid. */
export async function depositsFor(
  db: Db,
  { businessId, sourceId }: { readonly businessId: string; readonly sourceId: string },
  owners: readonly DepositOwner[],
) {
  const found = [];
  for (const { owner, sinceMs } of owners) {
    for (const topUp of await topUpsOf(db, owner)) {
      const isOther = topUp.businessId !== businessId || topUp.sourceId !== sourceId;
      if (isOther || topUp.updatedAtMs < sinceMs) continue;
      const { subject, amountCents, state, reason, transactionId } = topUp;
      const trail = await listAudit(db, { businessId, subject });
      const attempts = await attemptsOf(db, businessId, subject);
      found.push({
        subject,
        amountCents,
        state,
        reason,
        transactionId,
        approvals: await approvalsOfDeposit(db, topUp),
        attempts: attempts.map((attempt) => attemptJson(attempt, trail)),
      });
    }
  }
  return found;
}
