import { expect, test } from "vitest";
import { subjectFacts, subjectThatMade } from "../../src/ledger/rows.ts";
import { insertAdoptions, insertLookups } from "../../src/ledger/write.ts";
import { sendOnce } from "../support/sends.ts";
import { testStore } from "../store/support.ts";

const applied = (id: string) => ({ result: "applied", status: 201, madeIds: [id] }) as const;

test("what the ledger knows of a bill has nothing of another business's bill of the same id", async () => {
  const { store } = await testStore();
  const of = { subject: "pay_1", owner: "run/1" };
  const own = await sendOnce(store, { ...of, businessId: "biz_1" });
  const other = await sendOnce(store, { ...of, businessId: "biz_2" }, applied("pmt_2"));
  await store.transactionOf("biz_2", async (trx) => {
    const reading = {
      begunAtMs: 1,
      begunServiceMs: 1,
      isWhole: true,
      shownIds: ["pmt_2"],
      shown: [],
    };
    await insertLookups(trx, "biz_2", [{ subject: "pay_1", reading }], 2);
    const { attemptId } = other;
    const adopted = { ...{ businessId: "biz_2", subject: "pay_1", attemptId }, atMs: 2 };
    await insertAdoptions(trx, { ...adopted, operation: "pay", ids: ["pmt_3"] });
  });
  const facts = await subjectFacts(store.db, "biz_1", "pay_1");
  expect(facts.lookups).toEqual([]);
  expect(facts.attempts).toMatchObject([{ attemptId: own.attemptId, adoptedIds: [] }]);
  expect(facts.attempts[0]?.sends.map(({ sendId }) => sendId)).toEqual([own.sendId]);
  expect(await subjectFacts(store.db, "biz_2", "pay_1")).toMatchObject({
    attempts: [{ attemptId: other.attemptId, adoptedIds: ["pmt_3"] }],
    lookups: [{ shownIds: ["pmt_2"] }],
  });
  expect(await subjectThatMade(store.db, "biz_2", "pmt_3")).toBe("pay_1");
  expect(await subjectThatMade(store.db, "biz_1", "pmt_3")).toBeUndefined();
});

test("a deposit is told apart from the other deposits of its business, not from payments or other businesses", async () => {
  const { store } = await testStore();
  const deposit = (businessId: string, subject: string, madeId: string) =>
    sendOnce(store, { businessId, subject, owner: "run/1", operation: "deposit" }, applied(madeId));
  await deposit("biz_1", "deposit_1", "txn_1");
  await deposit("biz_1", "deposit_2", "txn_2");
  await deposit("biz_2", "deposit_2", "txn_3");
  await deposit("biz_2", "deposit_3", "txn_4");
  await sendOnce(store, { businessId: "biz_1", subject: "pay_1", owner: "run/1" }, applied("pmt"));
  const othersOf = async (subject: string) =>
    (await subjectFacts(store.db, "biz_1", subject)).othersIds;
  expect(await othersOf("deposit_1")).toEqual(["txn_2"]);
  expect(await othersOf("pay_1")).toEqual([]);
});
