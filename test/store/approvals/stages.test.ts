import { fc } from "@fast-check/vitest";
import { expect, onTestFinished, test } from "vitest";
import type { PlanLine } from "../../../src/contracts/pay-run.ts";
import type { ApprovalStage } from "../../../src/contracts/playbook.ts";
import { claimPayables } from "../../../src/store/payables/claims.ts";
import { takeDecision } from "../../../src/decisions/take.ts";
import { openStageOf } from "../../../src/domain/approvals/stages.ts";
import {
  beginStage,
  escalateDue,
  postponeReminder,
  turnedStages,
  waitingBills,
} from "../../../src/store/approvals/approval-waits.ts";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import {
  approvedLines,
  lineApproved,
  openStage,
} from "../../../src/store/approvals/line-approvals.ts";
import { changeLine, getRunLine } from "../../../src/store/lines/lines.ts";
import { getPlanLines } from "../../../src/store/lines/plan-lines.ts";
import { notePlan } from "../../../src/store/plans/plan-trail.ts";
import { storePlan } from "../../../src/store/plans/plan-writes.ts";
import { storeReplannedLines } from "../../../src/store/plans/replan-writes.ts";
import { getRun, recordLaunch } from "../../../src/store/runs/runs.ts";
import { applyApprovals } from "../../../src/store/lines/undecided-lines.ts";
import { approval, hashedLine, lease } from "../approved-run.ts";
import { newRun, planLine, planSummary, policy } from "../fixtures.ts";
import { testStore } from "../support.ts";
import { ClockReading } from "../../../src/business/clock.ts";

const STAGES: readonly ApprovalStage[] = [
  { by: ["controller"], quorum: 1 },
  { by: ["owner"], quorum: 2 },
];

function stagedLine(payableId: string, stages = STAGES, ruleIndex = 0): PlanLine {
  const quorum = stages.reduce((sum, stage) => sum + stage.quorum, 0);
  return hashedLine(payableId, { stages, quorum, ruleIndex });
}

async function plannedStore(
  lines: readonly PlanLine[],
): Promise<{ store: Store; url: string; runId: string }> {
  const { store, url } = await testStore();
  const staged = { by: ["controller", "owner"], quorum: 3, stages: STAGES };
  const approve = policy.approve.map((rule) => ({ ...rule, ...staged }));
  const launch = newRun({ policy: { ...policy, approve } });
  const { run } = await store.transaction((trx) => recordLaunch(trx, launch));
  const plan = { summary: planSummary(lines), lines, skipped: [] };
  await store.transaction(async (trx) => {
    await storePlan(trx, { run, plan, nowMs: 1 });
    await notePlan(trx, { run, plan, nowMs: 1 });
  });
  return { store, url, runId: run.runId };
}

function approve(
  { store, runId }: { store: Store; runId: string },
  principal: string,
  stage: number,
  line: PlanLine,
  expiresAtMs = 10_000,
): Promise<unknown> {
  const { payableId, lineHash } = line;
  const decision = approval(runId, principal, [{ payableId, lineHash, stage: stage - 1 }]);
  return store.transaction((trx) => recordDecision(trx, { ...decision, expiresAtMs }));
}

const BILL = stagedLine("pay_1");

test("a line is approved once every stage has its quorum of different people, until an approval expires", async () => {
  const at = await plannedStore([BILL]);
  const approved = (businessMs = 5_000) =>
    lineApproved(at.store.db, { ...BILL, runId: at.runId }, businessMs);
  await approve(at, "olga", 2, BILL);
  await approve(at, "otto", 2, BILL);
  await approve(at, "oona", 2, BILL);
  expect(await approved()).toBe(false);
  await approve(at, "cora", 1, BILL, 6_000);
  expect(await approved()).toBe(true);
  expect(await approved(6_000)).toBe(false);
  // An approval in another stage replaces the person's first one: nobody counts in two stages.
  await approve(at, "carl", 1, BILL);
  await approve(at, "olga", 1, BILL);
  await approve(at, "oona", 1, BILL);
  expect(await approved()).toBe(false);
});

test("nothing is sent for a line whose second stage is missing, though three people have approved", async () => {
  const plain = hashedLine("pay_2", { ruleIndex: 1 });
  const at = await plannedStore([BILL, plain]);
  for (const name of ["cora", "carl", "cleo"]) await approve(at, name, 1, BILL);
  await approve(at, "cora", 1, plain);
  for (const { payableId } of [BILL, plain]) {
    await changeLine(
      at.store.db,
      { runId: at.runId, payableId },
      { state: "planned", funded: true },
      1,
    );
  }
  const claim = { businessId: "biz_1", owner: at.runId, nowMs: 1 };
  await claimPayables(at.store.db, { ...claim, payableIds: ["pay_1", "pay_2"] });
  const first = await lease(at.store, at.runId);
  expect(first.sent).toEqual(["pay_2"]);
  expect(first.closed).toEqual({ pay_1: "not_approved" });
  const closed = { runId: at.runId, payableId: "pay_1" };
  await changeLine(at.store.db, closed, { state: "awaiting-approval" }, 2);
  await approve(at, "olga", 2, BILL);
  await approve(at, "otto", 2, BILL);
  const moment = { runId: at.runId, businessId: "biz_1", playbook: "weekly" };
  await at.store.transaction((trx) =>
    applyApprovals(trx, { ...moment, businessMs: 5_000, nowMs: 5_000 }),
  );
  expect((await getRunLine(at.store.db, at.runId, "pay_1"))?.state).toBe("planned");
});

test("a replanned line needs the stages of the rule that now applies", async () => {
  const at = await plannedStore([planLine("pay_1", { ruleIndex: 1 })]);
  const next = { ...BILL, version: 2, lineHash: "hash-of-pay_1-2" };
  await at.store.transaction((trx) =>
    storeReplannedLines(trx, {
      runId: at.runId,
      lines: [{ plan: next, reason: "it changed" }],
      nowMs: 2,
    }),
  );
  for (const name of ["cora", "carl", "cleo"]) await approve(at, name, 1, next);
  const approved = () => lineApproved(at.store.db, { ...next, runId: at.runId }, 5_000);
  expect(await approved()).toBe(false);
  await approve(at, "olga", 2, next);
  await approve(at, "otto", 2, next);
  expect(await approved()).toBe(true);
});

test("stages are opened, escalated and reminded of once for all their lines", async () => {
  const plain = planLine("pay_3", { ruleIndex: 1 });
  const other = stagedLine("pay_2");
  const at = await plannedStore([BILL, other, plain]);
  const { runId, store } = at;
  const turn = (businessMs: number) =>
    store.transaction(async (trx) => {
      const moment = { runId, businessMs, realMs: businessMs };
      const turned = await turnedStages(trx, moment);
      const next = { remindAtMs: businessMs + 100, escalateAtMs: businessMs + 200 };
      for (const stage of turned) await beginStage(trx, moment, stage, next);
      return turned
        .toSorted((one, other) => one.ruleIndex - other.ruleIndex)
        .map(({ ruleIndex, stage, count, cents }) => [ruleIndex, stage, count, cents]);
    });
  expect(await turn(1_000)).toEqual([
    [0, 0, 2, 20_000],
    [1, 0, 1, 10_000],
  ]);
  expect(await turn(1_001)).toEqual([]);
  await approve(at, "cora", 1, BILL);
  expect(await turn(1_100)).toEqual([[0, 1, 1, 10_000]]);

  const due = (businessMs: number, askedBeforeMs = businessMs) =>
    store.transaction((trx) => escalateDue(trx, { runId, businessMs }, askedBeforeMs));
  expect(await due(1_199)).toEqual([]);
  expect(await due(1_200, 999)).toEqual([]);
  expect(await due(1_200)).toMatchObject([
    { ruleIndex: 0, stage: 0, count: 1 },
    { ruleIndex: 1, stage: 0, count: 1 },
  ]);
  expect(await due(1_201)).toEqual([]);
  const key = { ruleIndex: 0, stage: 1, escalated: false };
  await store.transaction((trx) => postponeReminder(trx, runId, key, 5_000));
  const bills = await waitingBills(store.db, { runId, businessMs: 1_201 });
  expect(
    bills.map(({ stage, escalated, sinceMs, remindAtMs }) => [
      stage,
      escalated,
      sinceMs,
      remindAtMs,
    ]),
  ).toEqual([
    [0, true, 1_000, 1_100],
    [1, false, 1_100, 5_000],
    [0, true, 1_000, 1_100],
  ]);
  // A stage that opens again because its approval is gone gets new times.
  await store.db.deleteFrom("line_approvals").execute();
  expect(await turn(1_300)).toEqual([[0, 0, 1, 10_000]]);
  expect(await due(1_400)).toEqual([]);
});

test("decisions on two stages at the same moment are taken one after the other", async () => {
  for (let round = 0; round < 4; round += 1) {
    const at = await plannedStore([BILL]);
    const { runId, store } = at;
    const other = await openStore(at.url);
    onTestFinished(() => other.close());
    const decide = (from: Store, name: string, role: string) =>
      from.transaction(async (trx) => {
        const run = await getRun(trx, runId);
        if (run === undefined) throw new Error("no run");
        const roles = [role];
        const principal = { tokenId: `tok_${name}`, name, roles, createdBy: "", createdAtMs: 0 };
        const request = { decision: "approve", planHash: "plan-hash-1", drop: [] } as const;
        const clock = new ClockReading({ businessMs: 5_000, serviceHeard: true });
        return takeDecision(trx, { run, request, principal, clock, nowMs: 5_000 });
      });
    const [first, ...owners] = await Promise.all([
      decide(store, "cora", "controller"),
      decide(other, "olga", "owner"),
      decide(other, "otto", "owner"),
    ]);
    expect(first.accepted).toBe(true);
    for (const answer of owners) {
      if (!answer.accepted) expect(answer.code).toBe("stage_not_open");
    }
    const inTurn = owners.filter(({ accepted }) => accepted);
    const isApproved = () => lineApproved(store.db, { ...BILL, runId }, 5_000);
    expect(await isApproved()).toBe(inTurn.length === 2);
    // Owners whose approval came too early approve again.
    await decide(store, "olga", "owner");
    await decide(other, "otto", "owner");
    expect(await isApproved()).toBe(true);
  }
});

test("the store and the rules agree on which stage is open and what is approved", async () => {
  const quorums = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 });
  const approvals = fc.array(
    fc.record({
      stage: fc.nat(3),
      name: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"),
      lives: fc.boolean(),
    }),
    { maxLength: 12 },
  );
  const samples = fc.sample(fc.record({ quorums, approvals }), { numRuns: 150, seed: 7 });
  const lines = samples.map((sample, index) =>
    stagedLine(
      `pay_${index}`,
      sample.quorums.map((quorum) => ({ by: ["owner"], quorum })),
      index,
    ),
  );
  const { store, runId } = await plannedStore(lines);
  const expected: [string, number, boolean][] = [];
  for (const [index, line] of lines.entries()) {
    // A person's last approval counts.
    const count = line.stages?.length ?? 1;
    const said = samples[index]?.approvals ?? [];
    const last = new Map(said.map((each) => [each.name, { ...each, stage: each.stage % count }]));
    const valid = [...last.values()].filter(({ lives }) => lives);
    const rows = [...last.values()].map(({ name, stage, lives }) => ({
      run_id: runId,
      payable_id: line.payableId,
      line_hash: line.lineHash,
      principal: name,
      decision_id: "dec_1",
      expires_at_ms: lives ? 5_001 : 5_000,
      stage,
      escalated: 0,
      hurried: 0,
    }));
    if (rows.length > 0) await store.db.insertInto("line_approvals").values(rows).execute();
    const open = openStageOf({
      stages: line.stages ?? [],
      approvals: valid.map(({ name, stage }) => ({ principal: name, stage })),
    });
    expected.push([line.payableId, open ?? 0, open === null]);
  }
  const planned = await getPlanLines(store.db, runId);
  const approved = await approvedLines(
    store.db,
    planned.map(({ line }) => line),
    5_000,
  );
  const rows = await store.db
    .selectFrom("run_lines")
    .select(["payable_id", openStage(5_000).as("open")])
    .where("run_id", "=", runId)
    .orderBy("line_no")
    .execute();
  // A rule of one stage has no rows of its own: its quorum is the line's.
  expect(rows.map((row) => [row.payable_id, row.open, approved.has(row.payable_id)])).toEqual(
    expected,
  );
  expect(new Set(expected.map(([, open]) => open)).size).toBeGreaterThan(2);
  expect(expected.filter(([, , is]) => is).length).toBeGreaterThan(5);
});
