import { expect, test } from "vitest";
import {
  claimOwners,
  claimPayables,
  handOverClaim,
  releaseClaim,
  releaseEndedClaims,
} from "../../../src/store/payables/claims.ts";
import type { Store } from "../../../src/store/index.ts";
import { storePlan } from "../../../src/store/plans/plan-writes.ts";
import { upsertRun } from "../../../src/store/runs/runs.ts";
import { newRun, planLine, planSummary } from "../fixtures.ts";
import { child, closeSubjectOn, openSubjectOn, testStore } from "../support.ts";

const businessId = "biz_1";

function claim(store: Store, owner: string, payableIds: string[]) {
  return claimPayables(store.db, { businessId, payableIds, owner, nowMs: 1 });
}

test("a payable belongs to one owner, who may claim it again", async () => {
  const { store } = await testStore();
  await claim(store, "run_1", ["pay_1", "pay_2"]);
  expect(await claim(store, "run_2", ["pay_2", "pay_3"])).toEqual({
    claimed: ["pay_3"],
    refused: [{ payableId: "pay_2", owner: "run_1" }],
  });
  expect(await claim(store, "run_1", ["pay_1", "pay_4"])).toEqual({
    claimed: ["pay_1", "pay_4"],
    refused: [],
  });
  const other = { businessId: "biz_2", payableIds: ["pay_1"], owner: "run_3", nowMs: 1 };
  expect((await claimPayables(store.db, other)).claimed).toEqual(["pay_1"]);
});

test("thousands of payables are claimed at once", async () => {
  const { store } = await testStore();
  const ids = Array.from({ length: 5_000 }, (_, n) => `pay_${n}`);
  expect((await claim(store, "run_1", ids)).claimed).toEqual(ids);
  expect((await claim(store, "run_2", ids)).refused).toHaveLength(5_000);
});

test("two processes that claim the same payables share them out without overlap", async () => {
  const { store, url } = await testStore();
  const claimed = await Promise.all([
    child("claim", [url, "run_1", "200"]),
    child("claim", [url, "run_2", "200"]),
  ]);
  const [first, second] = claimed as [string[], string[]];
  expect(first.length + second.length).toBe(200);
  expect(new Set([...first, ...second]).size).toBe(200);
  const owners = await claimOwners(store.db, businessId, first);
  expect(new Set(owners.values())).toEqual(new Set(first.length === 0 ? [] : ["run_1"]));
});

test("only the owner can hand a claim over, and repeating it does no harm", async () => {
  const { store } = await testStore();
  await claim(store, "run_1", ["pay_1"]);
  const move = (from: string, to: string) =>
    handOverClaim(store.db, { businessId, payableId: "pay_1", from, to });
  expect(await move("run_2", "retry")).toBe(false);
  expect(await move("run_1", "retry")).toBe(true);
  expect(await move("run_1", "retry")).toBe(true);
  expect(await move("run_1", "run_3")).toBe(false);
  expect(await claimOwners(store.db, businessId, ["pay_1", "pay_2"])).toEqual(
    new Map([["pay_1", "retry"]]),
  );
});

test("a claim is not released while an attempt to pay is live", async () => {
  const { store } = await testStore();
  await claim(store, "run_1", ["pay_1"]);
  await openSubjectOn(store, "pay_1");
  const release = (owner: string) =>
    releaseClaim(store.db, { businessId, payableId: "pay_1", owner });
  expect(await release("run_1")).toBe(false);
  await closeSubjectOn(store, "pay_1");
  expect(await release("run_2")).toBe(false);
  expect(await release("run_1")).toBe(true);
  expect(await claimOwners(store.db, businessId, ["pay_1"])).toEqual(new Map());
});

test("a run releases claims of lines that need nothing more, and keeps those that may have been paid", async () => {
  const { store } = await testStore();
  const { run } = await upsertRun(store.db, newRun());
  const ids = ["settled", "parked", "parked-live", "processing"];
  const lines = ids.map((id) => planLine(id));
  await store.transaction((trx) =>
    storePlan(trx, { run, plan: { summary: planSummary(lines), lines, skipped: [] }, nowMs: 1 }),
  );
  for (const id of ids) {
    await store.db
      .updateTable("run_lines")
      .set({ state: id === "parked-live" ? "parked" : id })
      .where("payable_id", "=", id)
      .execute();
  }
  await openSubjectOn(store, "parked-live");
  await claim(store, run.runId, [...ids, "never-planned"]);
  await claim(store, "another run", ["others"]);
  expect(await releaseEndedClaims(store.db, run.runId)).toBe(3);
  const left = await claimOwners(store.db, businessId, [...ids, "never-planned", "others"]);
  expect([...left.keys()].sort()).toEqual(["others", "parked-live", "processing"]);
});

test("a claim on one business's payable is handed over and released without another's of the same id", async () => {
  const { store } = await testStore();
  const both = ["biz_1", "biz_2"];
  const payableId = "pay_1";
  for (const each of both) {
    const request = { businessId: each, payableIds: [payableId], owner: "run_1", nowMs: 1 };
    expect((await claimPayables(store.db, request)).claimed).toEqual([payableId]);
  }
  const owners = () =>
    Promise.all(
      both.map(async (each) => (await claimOwners(store.db, each, [payableId])).get(payableId)),
    );
  const move = { businessId: "biz_2", payableId, from: "run_1", to: "retry_1" };
  expect(await handOverClaim(store.db, move)).toBe(true);
  expect(await owners()).toEqual(["run_1", "retry_1"]);
  await handOverClaim(store.db, { ...move, from: "retry_1", to: "run_1" });
  expect(await releaseClaim(store.db, { businessId: "biz_2", payableId, owner: "run_1" })).toBe(
    true,
  );
  expect(await owners()).toEqual(["run_1", undefined]);
});
