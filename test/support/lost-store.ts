import type { Store } from "../../src/store/index.ts";
import { holdForLoss } from "../../src/store/janitor/behind.ts";

/** Records that the store of biz_acme was found to be restored: everything is put on hold. */
export async function noticeLoss(store: Store): Promise<void> {
  const of = { businessId: "biz_acme", evidence: "a test", hadItAtMs: 1 };
  await store.transaction((trx) => holdForLoss(trx, { ...of, serviceMs: null, businessMs: null }));
}
