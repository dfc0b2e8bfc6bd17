import { attemptsOf } from "../../store/attempts.ts";
import { listAudit } from "../../store/audit.ts";
import type { Db } from "../../store/index.ts";
import { topUpsOf } from "../../store/top-ups.ts";
import { attemptJson } from "./attempts.ts";

/** Deposits that were asked for so that the runs which planned a bill could pay it. */
export async function depositsFor(
  db: Db,
  businessId: string,
  bill: { readonly runIds: readonly string[]; readonly sourceId: string },
) {
  const found = [];
  for (const runId of bill.runIds) {
    for (const topUp of await topUpsOf(db, runId)) {
      if (topUp.businessId !== businessId || topUp.sourceId !== bill.sourceId) continue;
      const { subject, amountCents, state, reason, transactionId } = topUp;
      const trail = await listAudit(db, { businessId, subject });
      const attempts = await attemptsOf(db, businessId, subject);
      found.push({
        subject,
        amountCents,
        state,
        reason,
        transactionId,
        attempts: attempts.map((attempt) => attemptJson(attempt, trail)),
      });
    }
  }
  return found;
}
