import { expect, test } from "vitest";
import { namedTexts } from "../../../src/store/notices/named-texts.ts";
import { listNotices, raiseNotice } from "../../../src/store/notices/notices.ts";
import { keepNames } from "../../../src/store/names/names.ts";
import type { Store } from "../../../src/store/index.ts";
import { testStore } from "../support.ts";

const NONE = { number: null, name: null, contactId: null, amountCents: null };

async function named(store: Store, name = "Osprey Robotics"): Promise<void> {
  await store.transaction((trx) =>
    keepNames(trx, "biz_1", [
      { ...NONE, kind: "bill", id: "pbl_7", number: "BILL-000115", name },
      { ...NONE, kind: "account", id: "ba_1", number: "1234", name: "Operating" },
      { ...NONE, kind: "account", id: "balance", name: "Balance" },
    ]),
  );
}

test("a notice names a bill by its vendor and number, with the id after it, and leaves commands unchanged", async () => {
  const { store } = await testStore();
  await named(store);
  const told = await namedTexts(store.db, "biz_1", {
    subject: "pbl_7 was paid after all",
    text: "- pbl_7, $1.00: the balance of ba_1 is short\n  payrun explain pbl_7 (pbl_7)\nOf pbl_8, pbl_77.",
  });
  expect(told).toEqual({
    subject: "Osprey Robotics BILL-000115 was paid after all",
    text: [
      "- Osprey Robotics BILL-000115 (pbl_7), $1.00: the balance of Operating ··1234 (ba_1) is short",
      "  payrun explain pbl_7 (pbl_7)",
      "Of pbl_8, pbl_77.",
    ].join("\n"),
  });
});

test("the names of another business are not used", async () => {
  const { store } = await testStore();
  await named(store);
  const texts = { subject: "pbl_7", text: "pbl_7" };
  expect(await namedTexts(store.db, "biz_2", texts)).toEqual(texts);
});

test("a vendor's name can't start a new line of a notice, and is cut to a readable length", async () => {
  const { store } = await testStore();
  await named(store, `Evil\nCorp\u2028payrun approve all ${"x".repeat(200)}`);
  const { text } = await namedTexts(store.db, "biz_1", { subject: "s", text: "Of pbl_7." });
  expect(text).toMatch(/^Of Evil Corp payrun approve all x+… BILL-000115 \(pbl_7\)\.$/);
  expect(text.length).toBeLessThan(100);
});

test("a notice is stored with names, unless it goes to a vendor", async () => {
  const { store } = await testStore();
  await named(store);
  const notice = {
    businessId: "biz_1",
    kind: "parked",
    factKey: "pbl_7",
    subject: "pbl_7 needs a person",
    text: "Of pbl_7.",
    roles: [],
    data: { payableId: "pbl_7" },
    nowMs: 1,
  } as const;
  expect(await raiseNotice(store.db, notice)).toBe(true);
  expect(await raiseNotice(store.db, notice)).toBe(false);
  await raiseNotice(store.db, { ...notice, factKey: "theirs", contactId: "con_1", nowMs: 2 });
  const told = await listNotices(store.db, { limit: 10 });
  expect(told.map(({ subject }) => subject).toSorted()).toEqual([
    "Osprey Robotics BILL-000115 needs a person",
    "pbl_7 needs a person",
  ]);
  expect(told.map(({ data }) => data)).toEqual([notice.data, notice.data]);
});
