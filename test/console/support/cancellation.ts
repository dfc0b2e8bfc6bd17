import { cancelOfPayments } from "../../../src/domain/cancellations/policy.ts";
import { insertItem } from "../../../src/store/cancellations/cancellation-items.ts";
import { insertCancellation } from "../../../src/store/cancellations/cancellations.ts";
import type { Store } from "../../../src/store/index.ts";

/** A cancellation of a payment of each of these bills. @returns its id */
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
