import { expect, test } from "vitest";
import { keepSeenPayments, seenPayments } from "../../../src/store/payables/seen-payments.ts";
import { testStore } from "../support.ts";

test("the last stored version of each payment is known, by business", async () => {
  const { store } = await testStore();
  const scheduled = {
    id: "pay_1",
    status: "scheduled",
    amountCents: 5,
    updatedAt: "2026-11-20T10:00:00Z",
  };
  const undated = { id: "pay_2", status: "held", amountCents: 7, updatedAt: null };
  await store.transactionOf("biz_1", (trx) => keepSeenPayments(trx, "biz_1", [scheduled, undated]));
  const completed = { ...scheduled, status: "completed", updatedAt: "2026-11-24T10:00:00Z" };
  await store.transactionOf("biz_1", (trx) => keepSeenPayments(trx, "biz_1", [completed]));
  const known = await seenPayments(store.db, "biz_1", ["pay_1", "pay_2", "pay_3"]);
  expect([...known.values()].toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
    completed,
    undated,
  ]);
  expect(await seenPayments(store.db, "biz_2", ["pay_1"])).toEqual(new Map());
});
