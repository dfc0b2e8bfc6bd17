import type { BusinessProfile } from "../config/business-profile.ts";
import { ownedRetries } from "../store/janitor/open-runs.ts";
import { isOpenSubject } from "../store/payables/open-subjects.ts";
import { startOrSignal } from "../temporal/start.ts";
import { WORKFLOW_KINDS } from "../contracts/workflow-kinds.ts";
import type { JanitorContext } from "./context.ts";
import { holdTerminated } from "./hold-terminated.ts";
import type { Owed } from "./owed.ts";

const STOPPED =
  "The workflow that owns this failed bill was terminated in Temporal. It is followed, and not " +
  "paid again until somebody releases this hold.";

/**
 * Failed and returned bills that a retry owns. A new workflow reads everything about the bill again
 * before it does anything.
 */
export async function openRetries(
  { store, temporal }: JanitorContext,
  { businessId, name }: BusinessProfile,
): Promise<Owed[]> {
  const owned = await ownedRetries(store.db, businessId);
  return owned.map(({ workflowId, payableId, updatedAtMs, maySend }) => ({
    workflowId,
    sinceMs: updatedAtMs,
    entry: { action: "retry.follower-started", subject: payableId },
    keep: async (was) => async (trx) => {
      if (was.kind !== "terminated" && was.kind !== "cancelled") return true;
      const mayStillPay = await isOpenSubject(trx, businessId, payableId);
      const hold = { businessId, scope: "payable", value: payableId, reason: STOPPED } as const;
      if (maySend || mayStillPay) await holdTerminated(trx, hold, was.closedAtMs);
      return true;
    },
    start: () =>
      startOrSignal(temporal, WORKFLOW_KINDS.retryFailedPayment, { business: name, payableId }),
  }));
}
