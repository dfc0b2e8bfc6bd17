import type { Store } from "../../src/store/index.ts";
import { holdForLoss } from "../../src/store/janitor/behind.ts";

/** It is noticed that the store of biz_acme was restored: everything is on hold. */
export async function noticeLoss(store: Store): Promise<void> {
  const of = { businessId: "biz_acme", evidence: "a test", hadItAtMs: 1 };
  await store.transaction((trx) => holdForLoss(trx, { ...of, serviceMs: null, businessMs: null }));
}
