import { expect, test } from "vitest";
import { storePlan } from "../../../src/store/plans/plan-writes.ts";
import { upsertRun } from "../../../src/store/runs/runs.ts";
import {
  changeTopUp,
  insertTopUp,
  leftOfOthersCents,
  openTopUpsOf,
  unfundedByDate,
} from "../../../src/store/deposits/deposits.ts";
import { newRun, planLine, planSummary } from "../fixtures.ts";
import { testStore } from "../support.ts";

const SOURCE = { businessId: "biz_1", sourceId: "balance" };

function asked(owner: string, requestNo: number, amountCents: number) {
  return {
    ...SOURCE,
    subject: `deposit/balance/${owner}/${requestNo}`,
    business: "acme",
    owner,
    requestNo,
    policyRunId: owner,
    amountCents,
    neededOn: "2026-11-05",
    makeBy: "2026-11-02",
    arrivesOn: "2026-11-04",
    late: false,
    account: { bankAccountId: "bank_1", name: null, last4: "1234" },
    planHash: "plan",
    hash: "hash",
    approvers: ["owner"],
    quorum: 1,
    sinceMs: 1.5,
    nowMs: 100,
  };
}

test("a workflow has one open request for each funding source", async () => {
  const { store } = await testStore();
  const insert = (no: number) =>
    store.transactionOf("biz_1", (trx) => insertTopUp(trx, asked("run-1", no, 500)));
  const first = await insert(1);
  await expect(insert(2)).rejects.toThrow(/unique/i);
  expect(await openTopUpsOf(store.db, "run-1")).toEqual([first]);
  const failed = { state: "failed", reason: "R01" } as const;
  await store.transactionOf("biz_1", async (trx) => {
    expect(await changeTopUp(trx, first, ["sending"], failed, 200)).toBe(false);
    expect(await changeTopUp(trx, first, ["proposed"], failed, 200)).toBe(true);
  });
  expect(await insert(2)).toMatchObject({ state: "proposed", requestNo: 2 });
});

test("the money left by other runs is what is on its way to them, less what their bills still need", async () => {
  const { store } = await testStore();
  const { run } = await upsertRun(store.db, newRun());
  const { runId } = run;
  const lines = [planLine("p1"), planLine("p2", { executionDate: "2026-11-09" })];
  await store.transactionOf("biz_1", async (trx) => {
    const plan = { summary: planSummary(lines), lines, skipped: [] };
    await storePlan(trx, { run, plan, nowMs: 1 });
    const topUp = await insertTopUp(trx, asked(runId, 1, 15_000));
    expect(await leftOfOthersCents(trx, SOURCE, "run-2", 1_000)).toEqual({
      cents: 0,
      moved: false,
    });
    const made = { state: "on-its-way", transactionId: "txn_1" } as const;
    await changeTopUp(trx, topUp, ["proposed"], made, 1_000);
    expect(await leftOfOthersCents(trx, SOURCE, "run-2", 1_001)).toEqual({
      cents: -5_000,
      moved: false,
    });
    expect(await leftOfOthersCents(trx, SOURCE, "run-2", 1_000)).toMatchObject({ moved: true });
    expect(await leftOfOthersCents(trx, SOURCE, runId, 1_001)).toMatchObject({ cents: 0 });
  });
  expect(await unfundedByDate(store.db, runId, "balance")).toEqual([
    { date: "2026-11-05", cents: 10_000 },
    { date: "2026-11-09", cents: 10_000 },
  ]);
});
