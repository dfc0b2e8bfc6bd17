import { expect, test } from "vitest";
import {
  decisionsOfRun,
  recordDecision,
  type NewDecision,
} from "../../../src/store/approvals/decisions.ts";
import type { Store } from "../../../src/store/index.ts";
import { approversOf } from "../../support/approvers-of.ts";
import { lineApproved } from "../../../src/store/approvals/line-approvals.ts";
import { getPlanLines } from "../../../src/store/lines/plan-lines.ts";
import { storePlan } from "../../../src/store/plans/plan-writes.ts";
import { storeReplannedLines } from "../../../src/store/plans/replan-writes.ts";
import { upsertRun } from "../../../src/store/runs/runs.ts";
import { newRun, planLine, planSummary } from "../fixtures.ts";
import { openSubjectOn, testStore } from "../support.ts";

const runId = "pay-run/acme/weekly/2026-11-05";
const payables = ["pay_1", "pay_2", "pay_3", "pay_4"];
const twoEyes = payables.map((id) => planLine(id, { quorum: 2 }));
const approves = twoEyes.map(({ payableId, lineHash }) => ({ payableId, lineHash }));

async function plannedStore(lines = twoEyes): Promise<Store> {
  const { store } = await testStore();
  const { run } = await upsertRun(store.db, newRun());
  const plan = { summary: planSummary(lines), lines, skipped: [] };
  await store.transaction((trx) => storePlan(trx, { run, plan, nowMs: 1 }));
  return store;
}

function decide(store: Store, changes: Partial<NewDecision>) {
  return store.transaction((trx) =>
    recordDecision(trx, {
      runId,
      planHash: "plan-hash-1",
      decision: "approve",
      principal: "cora",
      tokenId: "tok_1",
      roles: ["controller"],
      dropped: [],
      comment: null,
      decidedAtMs: 5,
      expiresAtMs: 100,
      outcome: "accepted",
      reason: null,
      approves,
      ...changes,
    }),
  );
}

function approved(store: Store, changes: { lineHash?: string; businessMs?: number } = {}) {
  const { lineHash = "hash-of-pay_1-1", businessMs = 50 } = changes;
  return lineApproved(store.db, { runId, payableId: "pay_1", lineHash }, businessMs);
}

function approvers(store: Store) {
  return approversOf(store.db, runId, payables, 50);
}

test("a line is approved when its quorum of different people is reached, until it expires", async () => {
  const store = await plannedStore();
  await decide(store, {});
  await decide(store, { tokenId: "tok_2" });
  expect(await approved(store)).toBe(false);
  await decide(store, { principal: "olga", expiresAtMs: 80 });
  expect(await approved(store)).toBe(true);
  expect(await approved(store, { businessMs: 80 })).toBe(false);
  await decide(store, { principal: "olga", expiresAtMs: 90 });
  expect(await approved(store, { businessMs: 80 })).toBe(true);
  const principals = await approvers(store);
  expect(principals.get("pay_2")).toEqual(["cora", "olga"]);
});

test("a quorum of zero makes no line payable without an approval", async () => {
  const store = await plannedStore([planLine("pay_1", { quorum: 0 })]);
  expect(await approved(store)).toBe(false);
  await decide(store, {});
  expect(await approved(store)).toBe(true);
});

test("an approval of an earlier version of a line doesn't count for the current one", async () => {
  const store = await plannedStore();
  await decide(store, {});
  await decide(store, { principal: "olga" });
  const line = planLine("pay_1", { version: 2, lineHash: "hash-of-pay_1-2", quorum: 2 });
  await store.transaction((trx) =>
    storeReplannedLines(trx, { runId, lines: [{ plan: line, reason: "it changed" }], nowMs: 6 }),
  );
  expect(await approved(store, { lineHash: "hash-of-pay_1-2" })).toBe(false);
  const principals = await approvers(store);
  expect(principals.has("pay_1")).toBe(false);
  expect(principals.get("pay_2")).toEqual(["cora", "olga"]);
});

test("refused decisions and rejections are kept and approve nothing", async () => {
  const store = await plannedStore();
  await decide(store, { outcome: "refused", reason: "Launched by the same person." });
  await decide(store, { decision: "reject", comment: "Not this week.", decidedAtMs: 6 });
  expect(await approvers(store)).toEqual(new Map());
  expect(await decisionsOfRun(store.db, runId)).toMatchObject([
    { decision: "approve", outcome: "refused", reason: "Launched by the same person." },
    { decision: "reject", outcome: "accepted", comment: "Not this week.", roles: ["controller"] },
  ]);
  expect(await getPlanLines(store.db, runId, { states: ["awaiting-approval"] })).toHaveLength(4);
});

test("a decision drops lines that have no open request, also if a lane has them, and keeps the approvals of the others", async () => {
  const store = await plannedStore();
  await decide(store, {});
  await store.db
    .updateTable("run_lines")
    .set({ state: "paying" })
    .where("payable_id", "=", "pay_2")
    .execute();
  await openSubjectOn(store, "pay_3");
  const result = await decide(store, { principal: "olga", dropped: ["pay_2", "pay_3", "pay_4"] });
  expect(result.dropped.toSorted()).toEqual(["pay_2", "pay_4"]);
  const stored = await getPlanLines(store.db, runId);
  expect(stored.map(({ line }) => [line.payableId, line.state, line.reasonCode])).toEqual([
    ["pay_1", "awaiting-approval", null],
    ["pay_2", "paying", null],
    ["pay_3", "awaiting-approval", null],
    ["pay_4", "cancelled", "dropped"],
  ]);
  expect(await approved(store)).toBe(true);
  const principals = await approvers(store);
  expect(principals.get("pay_2")).toEqual(["cora"]);
});
