import { expect, test } from "vitest";
import { keepNamesOfPlan, namesWith } from "../../../src/store/names/names.ts";
import { planLine, skippedLine } from "../fixtures.ts";
import { testStore } from "../support.ts";

test("a bill is found by its total even after a plan has left out the rest that is owed", async () => {
  const { store } = await testStore();
  const total = planLine("pay_1", { amountCents: 13_875_000, totalCents: 13_875_000 });
  const owed = { ...skippedLine("pay_1"), code: "claimed" as const, amountCents: 10_000_000 };
  await store.transaction(async (trx) => {
    await keepNamesOfPlan(trx, "biz_1", { lines: [total], skipped: [] });
    await keepNamesOfPlan(trx, "biz_1", { lines: [], skipped: [owed] });
  });
  const asked = { businessId: "biz_1", kind: "bill", text: "138,750", limit: 5 } as const;
  const found = await namesWith(store.db, { ...asked, amountCents: 13_875_000 });
  expect(found.map(({ id }) => id)).toEqual(["pay_1"]);
});
