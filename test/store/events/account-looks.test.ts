import { expect, test } from "vitest";
import {
  askForAccountLook,
  dueAccountLooks,
  noteAccountLook,
  postponeAccountLooks,
} from "../../../src/store/events/account-looks.ts";
import { testStore } from "../support.ts";

const ACCOUNT = { businessId: "biz_1", accountId: "ba_1" };

test("many events about an account ask for one look, and one that arrives during it asks for another", async () => {
  const { store } = await testStore();
  const ask = () =>
    store.transactionOf("biz_1", (trx) => askForAccountLook(trx, { ...ACCOUNT, nowMs: 1_000 }));
  const due = () => dueAccountLooks(store.db, 1_000, 10);
  const note = (look: Awaited<ReturnType<typeof due>>[number] | undefined, removed: boolean) =>
    store.transactionOf("biz_1", async (trx) => look && noteAccountLook(trx, look, removed));
  for (let times = 0; times < 10; times += 1) await ask();
  const [look, ...others] = await due();
  expect(others).toEqual([]);
  await ask();
  expect(await note(look, true)).toBe(true);
  const [again] = await due();
  expect(await note(again, true)).toBe(false);
  expect(await due()).toEqual([]);
});

test("a look that fails waits longer each time, five minutes at most", async () => {
  const { store } = await testStore();
  await store.transactionOf("biz_1", (trx) => askForAccountLook(trx, { ...ACCOUNT, nowMs: 0 }));
  const waits: number[] = [];
  for (let times = 0; times < 9; times += 1) {
    const looks = await dueAccountLooks(store.db, Number.MAX_SAFE_INTEGER, 10);
    await postponeAccountLooks(store.db, looks, 0);
    const [later] = await dueAccountLooks(store.db, Number.MAX_SAFE_INTEGER, 10);
    waits.push(later?.dueAtMs ?? 0);
  }
  expect(waits.slice(0, 3)).toEqual([5_000, 10_000, 20_000]);
  expect(waits.at(-1)).toBe(300_000);
});
