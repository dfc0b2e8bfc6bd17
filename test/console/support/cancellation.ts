import { cancelOfPayments } from "../../../src/domain/cancellations/policy.ts";
import { insertItem } from "../../../src/store/cancellations/cancellation-items.ts";
import {
  changeCancellation,
  insertCancellation,
} from "../../../src/store/cancellations/cancellations.ts";
import type { Store } from "../../../src/store/index.ts";

/** Ends a cancellation whose bills each have several scheduled payments: money goes out. */
export async function endWithExceptions(store: Store, workflowId: string): Promise<void> {
  const goesOutAtMs = Date.now() + 86_400_000;
  await store.db
    .updateTable("cancellation_items")
    .set({ state: "several-scheduled", reason: null, goes_out_at_ms: goesOutAtMs })
    .where("workflow_id", "=", workflowId)
    .execute();
  const phase = "completed-with-exceptions" as const;
  await changeCancellation(store.db, workflowId, { phase, endedAtMs: Date.now() });
}

/** Makes a cancellation of one payment of each of these bills. @returns its id */
export async function seedCancellation(
  store: Store,
  payableIds: readonly string[],
): Promise<string> {
  const nowMs = Date.now();
  const workflowId = "cancel-scheduled-payments/acme/asked";
  await store.transaction(async (trx) => {
    await insertCancellation(trx, {
      ...{ businessId: "biz_acme", business: "acme", workflowId, playbook: "", runId: null },
      ...{ policy: cancelOfPayments([]), reason: "wrong week", requestedBy: "olga", nowMs },
    });
    for (const [itemNo, payableId] of payableIds.entries()) {
      const item = { businessId: "biz_acme", workflowId, itemNo, payableId, contactId: "con_1" };
      const money = { paymentId: `pay_${payableId}`, amountCents: 18_450, holdId: null };
      const end = { state: "cancelled", open: false, reason: "No money moved." } as const;
      await insertItem(trx, { ...item, ...money, ...end }, nowMs);
    }
  });
  return workflowId;
}
