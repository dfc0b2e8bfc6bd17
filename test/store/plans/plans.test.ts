import { expect, test } from "vitest";
import { planHash, policyHash } from "../../../src/domain/approvals/hashes.ts";
import { approversOf } from "../../support/approvers-of.ts";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import {
  askForDryPlan,
  getDryPlanPage,
  openDryPlan,
  saveDryPlan,
} from "../../../src/store/plans/dry-plans.ts";
import { findOne } from "../../../src/store/sql/records.ts";
import type { Store } from "../../../src/store/index.ts";
import { planLineOf } from "../../../src/store/lines/lines.ts";
import { getPlanLine, getPlanLines, listSkipped } from "../../../src/store/lines/plan-lines.ts";
import { storePlan } from "../../../src/store/plans/plan-writes.ts";
import { storeReplannedLines } from "../../../src/store/plans/replan-writes.ts";
import { getRun, upsertRun } from "../../../src/store/runs/runs.ts";
import { approval } from "../approved-run.ts";
import { newRun, planLine, planSummary, policy, skippedLine } from "../fixtures.ts";
import { testStore } from "../support.ts";

async function plannedRun(store: Store) {
  const { run } = await upsertRun(store.db, newRun());
  const over = { code: "over_bill_limit" as const, text: "Above the limit per bill." };
  const lines = [
    planLine("pay_2"),
    planLine("pay_1", { amountCents: 5_000, quorum: 2 }),
    planLine("pay_3", { overLimit: over }),
  ];
  const plan = { summary: planSummary(lines), lines, skipped: [skippedLine("pay_4")] };
  const stored = await store.transaction((trx) => storePlan(trx, { run, plan, nowMs: 9 }));
  return { run, plan, stored };
}

test("a plan is stored with its lines in order, and with the bills that it left out", async () => {
  const { store } = await testStore();
  const { run, plan, stored } = await plannedRun(store);
  expect(stored).toMatchObject({ planNo: 1, planHash: "plan-hash-1", summary: plan.summary });
  expect(await getRun(store.db, run.runId)).toMatchObject({
    planHash: "plan-hash-1",
    planNo: 1,
    totalCents: 25_000,
  });
  const lines = await getPlanLines(store.db, run.runId);
  expect(lines.map(({ plan: line }) => line)).toEqual(plan.lines);
  expect(lines.map(({ line }) => [line.payableId, line.state, line.quorum])).toEqual([
    ["pay_2", "awaiting-approval", 1],
    ["pay_1", "awaiting-approval", 2],
    ["pay_3", "parked", 1],
  ]);
  expect(lines[2]?.line).toMatchObject({
    reasonCode: "over_bill_limit",
    reason: "Above the limit per bill.",
  });
  expect(await listSkipped(store.db, run.runId)).toEqual(plan.skipped);
  const parked = await getPlanLines(store.db, run.runId, { states: ["parked"] });
  expect(parked.map(({ line }) => line.payableId)).toEqual(["pay_3"]);
  const page = await getPlanLines(store.db, run.runId, { page: { offset: 1, limit: 1 } });
  expect(page.map(({ line }) => line.payableId)).toEqual(["pay_1"]);
});

test("a second plan for a run changes nothing", async () => {
  const { store } = await testStore();
  const { run, stored } = await plannedRun(store);
  const lines = [planLine("pay_9")];
  const summary = { ...planSummary(lines), planHash: "another" };
  const again = await store.transaction((trx) =>
    storePlan(trx, { run, plan: { summary, lines, skipped: [] }, nowMs: 10 }),
  );
  expect(again).toEqual(stored);
  expect(await getPlanLine(store.db, run.runId, "pay_9")).toBeUndefined();
  expect((await getRun(store.db, run.runId))?.planHash).toBe("plan-hash-1");
});

test("a plan of thousands of lines is stored and read whole", async () => {
  const { store } = await testStore();
  const { run } = await upsertRun(store.db, newRun());
  const lines = Array.from({ length: 3_000 }, (_, n) => planLine(`pay_${n}`));
  const plan = { summary: planSummary(lines), lines, skipped: [] };
  await store.transaction((trx) => storePlan(trx, { run, plan, nowMs: 9 }));
  const read = await getPlanLines(store.db, run.runId);
  expect(read.map(({ plan: line }) => line.payableId)).toEqual(lines.map((l) => l.payableId));
});

test("a replanned line waits for approval under a new plan's hash", async () => {
  const { store } = await testStore();
  const { run } = await plannedRun(store);
  await store.db.updateTable("run_lines").set({ state: "paying", funded: 1 }).execute();
  const line = planLine("pay_1", {
    version: 2,
    lineHash: "hash-of-pay_1-2",
    amountCents: 7_000,
    executionDate: "2026-11-06",
    flags: [{ kind: "changed-bank-account", text: "Changed." }],
    decideBy: "2026-11-06T05:00:00.000Z",
  });
  const reason = "the vendor's record was changed";
  const replan = () =>
    store.transaction((trx) =>
      storeReplannedLines(trx, { runId: run.runId, lines: [{ plan: line, reason }], nowMs: 11 }),
    );
  const next = await replan();
  const expectedHash = planHash({
    lineHashes: ["hash-of-pay_1-2", "hash-of-pay_2-1", "hash-of-pay_3-1"],
    playbook: "weekly",
    playbookRevision: 1,
    policyHash: policyHash(policy),
  });
  expect(next).toMatchObject({ planNo: 2, planHash: expectedHash });
  expect(next.summary).toMatchObject({
    planHash: expectedHash,
    totalCents: 27_000,
    flaggedCount: 1,
    decideBy: "2026-11-06T05:00:00.000Z",
    cash: [
      { date: "2026-11-05", neededCents: 20_000, leftCents: 980_000 },
      { date: "2026-11-06", neededCents: 7_000, leftCents: 973_000 },
    ],
  });
  expect(await getRun(store.db, run.runId)).toMatchObject({ planHash: expectedHash, planNo: 2 });
  const [stored] = await getPlanLines(store.db, run.runId, { states: ["awaiting-approval"] });
  expect(stored?.plan).toEqual(line);
  expect(stored?.line).toMatchObject({ version: 2, funded: false, amountCents: 7_000 });
  expect(stored?.line.reason).toBe("Back to approval: the vendor's record was changed.");
  const first = { runId: run.runId, payableId: "pay_1", version: 1 };
  expect((await planLineOf(store.db, first)).amountCents).toBe(5_000);
  const before = await findOne(store.db, "plans", { runId: run.runId, planNo: 1 });
  expect(before?.planHash).toBe("plan-hash-1");

  expect(await replan()).toEqual(next);
  const skipping = store.transaction((trx) =>
    storeReplannedLines(trx, {
      runId: run.runId,
      lines: [{ plan: { ...line, version: 4 }, reason }],
      nowMs: 12,
    }),
  );
  await expect(skipping).rejects.toThrow("doesn't follow");
});

test("lines that are replanned together make one new plan, and other lines stay approved", async () => {
  const { store } = await testStore();
  const { run } = await upsertRun(store.db, newRun());
  const { runId } = run;
  const lines = Array.from({ length: 1_500 }, (_, n) => planLine(`pay_${n}`));
  const plan = { summary: planSummary(lines), lines, skipped: [] };
  await store.transaction(async (trx) => {
    await storePlan(trx, { run, plan, nowMs: 9 });
    await recordDecision(trx, approval(runId, "carol", lines));
  });
  const later = lines.slice(100).map((line) => ({
    plan: {
      ...line,
      version: 2,
      lineHash: `later-${line.lineHash}`,
      executionDate: "2026-11-06",
      decideBy: "2026-11-06T05:00:00.000Z",
    },
    reason: "its execution date 2026-11-05 has passed",
  }));
  const next = await store.transaction((trx) =>
    storeReplannedLines(trx, { runId, lines: later, nowMs: 11 }),
  );
  expect(next).toMatchObject({ planNo: 2, summary: { totalCents: 15_000_000, flaggedCount: 0 } });
  expect(next.summary.cash.map(({ date, neededCents }) => [date, neededCents])).toEqual([
    ["2026-11-05", 1_000_000],
    ["2026-11-06", 14_000_000],
  ]);
  const hashes = (await getPlanLines(store.db, runId)).map(({ line }) => line.lineHash);
  const { name: playbook } = policy;
  const as = { playbook, playbookRevision: 1, policyHash: policyHash(policy) };
  expect(next.planHash).toBe(planHash({ lineHashes: hashes, ...as }));
  expect(await findOne(store.db, "plans", { runId, planNo: 3 })).toBeUndefined();
  const ids = lines.map(({ payableId }) => payableId);
  const approvers = await approversOf(store.db, runId, ids, 50);
  expect(new Set(approvers.keys())).toEqual(new Set(ids.slice(0, 100)));
  const told = await store.db
    .selectFrom("audit")
    .select("details")
    .where("action", "=", "line:planned-anew")
    .execute();
  const each = told.map(({ details }) => (JSON.parse(details) as { each: unknown[] }).each.length);
  expect(each).toEqual([400, 500, 500]);
});

test("a dry plan is kept for a day, and its bills can be read page by page", async () => {
  const { store } = await testStore();
  const lines = ["pay_1", "pay_2", "pay_3"].map((payableId) => planLine(payableId));
  const skipped = ["pay_4", "pay_5"].map((payableId) => skippedLine(payableId));
  const plan = {
    ...planSummary(lines),
    skippedCount: 2,
    business: "acme",
    playbook: "weekly",
    period: "2026-11-05",
    lines,
    skipped,
  };
  const dayMs = 86_400_000;
  const page = (planId: string, number: number, pageSize = 2) =>
    getDryPlanPage(store.db, planId, { page: number, pageSize });
  const asked = { business: "acme", playbook: "weekly", period: "2026-11-05" };
  await askForDryPlan(store.db, "dry_1", asked, 0);
  await askForDryPlan(store.db, "dry_2", asked, dayMs);
  await askForDryPlan(store.db, "dry_3", asked, dayMs);
  expect(await page("dry_3", 1)).toBeUndefined();
  expect(await openDryPlan(store.db, "dry_3")).toEqual(asked);
  await saveDryPlan(store.db, { dryPlanId: "dry_1", plan, nowMs: 0 });
  await saveDryPlan(store.db, { dryPlanId: "dry_2", plan, nowMs: dayMs });
  // The activity may run twice: its last result counts, and is read whole.
  await saveDryPlan(store.db, { dryPlanId: "dry_2", plan, nowMs: dayMs });
  expect(await page("dry_1", 1, 5)).toEqual({
    ...plan,
    planId: "dry_1",
    totalCount: 5,
    page: 1,
    pageSize: 5,
    nextPage: null,
  });
  const pages = await Promise.all([1, 2, 3, 4].map((number) => page("dry_2", number)));
  expect(pages.map((each) => each?.lines.map(({ payableId }) => payableId))).toEqual([
    ["pay_1", "pay_2"],
    ["pay_3"],
    [],
    [],
  ]);
  expect(pages.map((each) => each?.skipped.map(({ payableId }) => payableId))).toEqual([
    [],
    ["pay_4"],
    ["pay_5"],
    [],
  ]);
  expect(pages.map((each) => each?.nextPage)).toEqual([2, 3, null, null]);
  await saveDryPlan(store.db, { dryPlanId: "dry_3", plan, nowMs: dayMs + 1 });
  expect(await page("dry_1", 1)).toBeUndefined();
  expect((await page("dry_2", 1))?.lines).toHaveLength(2);
  const kept = await store.db.selectFrom("dry_plan_lines").select("lines_id").distinct().execute();
  // Two tries of the second plan, and the third plan.
  expect(kept).toHaveLength(3);
});
