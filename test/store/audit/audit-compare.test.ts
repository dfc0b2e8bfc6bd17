import { expect, test } from "vitest";
import { createToken } from "../../../src/store/approvals/tokens.ts";
import { differencesOf } from "../../../src/store/audit/audit-compare.ts";
import { STORE_TRAIL } from "../../../src/store/audit/audit.ts";
import { createHold } from "../../../src/store/holds/holds.ts";
import { approvedRun, lease } from "../approved-run.ts";
import { testStore } from "../support.ts";

const OF_BUSINESS = { businessId: "biz_1", business: "acme" };

test("rows agree with their entries in both databases, except a decision that the trail lacks", async () => {
  const { store } = await testStore();
  const runId = await approvedRun(store, "weekly", ["pay_1", "pay_2"]);
  expect((await lease(store, runId)).sent).toHaveLength(2);
  const hold = { businessId: "biz_1", scope: "contact", value: "c", reason: "Ask." } as const;
  await store.transaction((trx) =>
    createHold(trx, { ...hold, author: "olga", untilMs: 9_000, nowMs: 5 }),
  );
  await createToken(store, { name: "carla", roles: ["viewer"], createdBy: "ada", nowMs: 5 });
  expect(await differencesOf(store.db, { businessId: STORE_TRAIL, business: null })).toEqual([]);
  // The fixture stores its plan and its decision without their entries.
  const found = await differencesOf(store.db, OF_BUSINESS);
  expect(found.map(({ kind, subject }) => `${kind} ${subject?.split(" ")[0]}`)).toEqual([
    ...["only-in-store plans", "only-in-store plan_lines", "only-in-store plan_lines"],
    "only-in-store decisions",
  ]);
});

test("a trail of more facts than fit into memory is compared in shares, and nothing is left out", async () => {
  const { store } = await testStore();
  for (let no = 0; no < 20; no += 1) {
    const hold = { businessId: "biz_1", scope: "contact", value: `c${no}`, reason: "." } as const;
    await store.transaction((trx) => createHold(trx, { ...hold, author: "olga", nowMs: no }));
  }
  expect(await differencesOf(store.db, OF_BUSINESS, 3)).toEqual([]);
  await store.db.updateTable("holds").set({ reason: "!" }).where("value", "<", "c15").execute();
  await store.db.deleteFrom("holds").where("value", "=", "c7").execute();
  await store.db
    .updateTable("holds")
    .set({ hold_id: "hold_forged" })
    .where("value", "=", "c8")
    .execute();
  const whole = await differencesOf(store.db, OF_BUSINESS);
  const inShares = await differencesOf(store.db, OF_BUSINESS, 3);
  const sorted = (texts: typeof whole) => texts.map(({ text }) => text).toSorted();
  expect(sorted(inShares)).toEqual(sorted(whole));
  const kinds = whole.map(({ kind }) => kind).toSorted();
  expect(kinds.filter((kind) => kind !== "differs")).toEqual([
    ...["only-in-store", "only-in-trail", "only-in-trail"],
  ]);
  expect(kinds).toHaveLength(10);
});
