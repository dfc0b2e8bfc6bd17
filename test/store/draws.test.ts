import { expect, test } from "vitest";
import type { Attempt } from "../../src/contracts/attempt.ts";
import {
  changeLiveAttempt,
  insertAttempt,
  liveAttempt,
  liveAttemptsOf,
} from "../../src/store/attempts.ts";
import { recordDecision } from "../../src/store/decisions.ts";
import { drawLines, type DrawRequest } from "../../src/store/draws.ts";
import { createHold } from "../../src/store/holds.ts";
import type { Store } from "../../src/store/index.ts";
import { changeLine, getRunLine } from "../../src/store/lines.ts";
import { storePlan } from "../../src/store/plan-writes.ts";
import { requestCancel, upsertRun } from "../../src/store/runs.ts";
import { clearWaits, listWaits, setWait } from "../../src/store/waits.ts";
import { newRun, planLine, planSummary } from "./fixtures.ts";
import { testStore } from "./support.ts";

const RUN = "pay-run/acme/weekly/2026-11-05";

/** A planned run whose lines are approved until 10,000 on the business clock, and funded. */
async function approvedRun(
  payables: readonly string[] = ["pay_1", "pay_2", "pay_3"],
  approvedOnly: readonly string[] = payables,
): Promise<Store> {
  const { store } = await testStore();
  const { run } = await upsertRun(store.db, newRun());
  const lines = payables.map((payableId) => planLine(payableId));
  await store.transaction(async (trx) => {
    const plan = { summary: planSummary(lines), lines, skipped: [] };
    await storePlan(trx, { run, plan, nowMs: 1 });
    await recordDecision(trx, {
      runId: run.runId,
      planHash: "plan-hash-1",
      decision: "approve",
      principal: "carol",
      tokenId: "tok_carol",
      roles: ["controller"],
      dropped: [],
      comment: null,
      decidedAtMs: 2,
      expiresAtMs: 10_000,
      outcome: "accepted",
      reason: null,
      approves: lines.filter(({ payableId }) => approvedOnly.includes(payableId)),
    });
    for (const { payableId } of lines) {
      await changeLine(trx, { runId: run.runId, payableId }, { state: "planned", funded: true }, 3);
    }
  });
  return store;
}

function draw(store: Store, changes: Partial<DrawRequest> = {}) {
  return store.transaction((trx) =>
    drawLines(trx, {
      runId: RUN,
      businessId: "biz_1",
      playbook: "weekly",
      limits: { billCents: null, vendorPerWeekCents: null, businessPerWeekCents: null },
      owner: "worker-1",
      limit: 20,
      leaseMs: 1_000,
      realMs: 5_000,
      serviceMs: 5_000,
      businessMs: 5_000,
      ...changes,
    }),
  );
}

function attemptAt(subject: string, changes: Partial<Attempt> = {}): Attempt {
  return {
    attemptId: `att_${subject}`,
    businessId: "biz_1",
    subject,
    seq: 1,
    operation: "pay",
    method: "POST",
    path: "/v1/payments",
    body: "{}",
    idempotencyKey: `key_${subject}`,
    owner: RUN,
    lineHash: `hash-of-${subject}-1`,
    contactId: "con_1",
    sourceId: "balance",
    rail: "SERVICE",
    amountCents: 10_000,
    executionDate: "2026-11-05",
    knownPaymentIds: [],
    sends: [{ atMs: 4_000, by: "worker-0", result: "pending" }],
    state: "live",
    firstSentAtMs: 4_000,
    lastSentAtMs: 4_000,
    gaveUpAtMs: null,
    lookedUpAtMs: null,
    paymentIds: [],
    answer: null,
    ...changes,
  };
}

const idsOf = (drawn: Awaited<ReturnType<typeof draw>>): string[] =>
  drawn.lines.map(({ line }) => line.payableId);

test("a drawn line is leased to one owner until its lease ends, then to the next with a higher epoch", async () => {
  const store = await approvedRun(["pay_1"]);
  const first = await draw(store);
  expect(first.lines[0]).toMatchObject({ maySend: true, line: { leaseEpoch: 1 } });
  expect(idsOf(await draw(store, { realMs: 5_900 }))).toEqual([]);
  const second = await draw(store, { owner: "worker-2", realMs: 6_100 });
  expect(second.lines[0]?.line.leaseEpoch).toBe(2);
  const late = await changeLine(
    store.db,
    { runId: RUN, payableId: "pay_1" },
    { state: "planned" },
    7_000,
    { epoch: 1 },
  );
  expect(late).toBe(false);
});

test("a line without a valid approval of exactly this line is never drawn", async () => {
  const store = await approvedRun(["pay_1", "pay_2"], ["pay_2"]);
  expect(idsOf(await draw(store))).toEqual(["pay_2"]);
  expect((await getRunLine(store.db, RUN, "pay_1"))?.state).toBe("awaiting-approval");
});

test("an approval that has expired on the business clock draws nothing", async () => {
  const store = await approvedRun();
  expect(idsOf(await draw(store, { businessMs: 10_001 }))).toEqual([]);
});

test("a hold stops its lines in the transaction that would draw them", async () => {
  const store = await approvedRun();
  await store.transaction((trx) =>
    createHold(trx, {
      businessId: "biz_1",
      scope: "payable",
      value: "pay_2",
      reason: "Call the vendor first.",
      author: "olga",
      untilMs: null,
      nowMs: 4,
    }),
  );
  expect(idsOf(await draw(store))).toEqual(["pay_1", "pay_3"]);
  expect(await getRunLine(store.db, RUN, "pay_2")).toMatchObject({
    state: "on-hold",
    reason: "Call the vendor first.",
  });
});

test("a cancelled run draws only what was sent, and only to look", async () => {
  const store = await approvedRun();
  await store.transaction((trx) => insertAttempt(trx, attemptAt("pay_1"), 4));
  await changeLine(store.db, { runId: RUN, payableId: "pay_1" }, { state: "unknown" }, 4);
  await requestCancel(store.db, RUN, "olga", 5);
  const drawn = await draw(store);
  expect(drawn.lines.map(({ line, maySend }) => [line.payableId, maySend])).toEqual([
    ["pay_1", false],
  ]);
  expect((await getRunLine(store.db, RUN, "pay_2"))?.state).toBe("cancelled");
});

test("a run that was rejected while it pays draws nothing more", async () => {
  const store = await approvedRun(["pay_1"]);
  await store.transaction((trx) =>
    recordDecision(trx, {
      runId: RUN,
      planHash: "plan-hash-1",
      decision: "reject",
      principal: "carol",
      tokenId: "tok_carol",
      roles: ["controller"],
      dropped: [],
      comment: null,
      decidedAtMs: 5,
      expiresAtMs: 10_000,
      outcome: "accepted",
      reason: null,
      approves: [],
    }),
  );
  expect(idsOf(await draw(store))).toEqual([]);
  expect(await getRunLine(store.db, RUN, "pay_1")).toMatchObject({
    state: "cancelled",
    reasonCode: "rejected",
  });
});

test("a vendor's weekly limit counts what other lines of the week already committed", async () => {
  const store = await approvedRun();
  const limits = { billCents: null, vendorPerWeekCents: 25_000, businessPerWeekCents: null };
  expect(idsOf(await draw(store, { limits }))).toEqual(["pay_1", "pay_2"]);
  expect(await getRunLine(store.db, RUN, "pay_3")).toMatchObject({
    state: "parked",
    reasonCode: "over-vendor-week-limit",
  });
});

test("a wait of the business draws nothing until its time, then one line first", async () => {
  const store = await approvedRun();
  const wait = {
    businessId: "biz_1",
    sourceId: "",
    code: "rate_limited",
    message: "Slow down.",
    nowMs: 4_000,
    retryAtMs: 6_000,
    realMs: 4_000,
  };
  await store.transactionOf("biz_1", (trx) => setWait(trx, wait));
  const blocked = await draw(store);
  expect(blocked).toEqual({ lines: [], blockedUntilMs: 6_000 });
  expect(idsOf(await draw(store, { serviceMs: 6_001 }))).toEqual(["pay_1"]);
  const paid = { businessId: "biz_1", sourceId: "balance", realMs: 6_001 };
  await store.transactionOf("biz_1", (trx) => clearWaits(trx, paid));
  expect(idsOf(await draw(store, { serviceMs: 6_002 }))).toEqual(["pay_2", "pay_3"]);
});

test("a wait of another source is not counted as tried by lines that don't pay from it", async () => {
  const store = await approvedRun();
  const wait = {
    businessId: "biz_1",
    sourceId: "bank",
    code: "insufficient_balance",
    message: "Short.",
    nowMs: 4_000,
    retryAtMs: 4_500,
    realMs: 4_000,
  };
  await store.transactionOf("biz_1", (trx) => setWait(trx, wait));
  expect(idsOf(await draw(store))).toEqual(["pay_1", "pay_2", "pay_3"]);
  expect(await listWaits(store.db, "biz_1")).toMatchObject([{ retryAtMs: 4_500, tries: 0 }]);
});

test("a payable has at most one live attempt, whoever tries", async () => {
  const store = await approvedRun();
  await insertAttempt(store.db, attemptAt("pay_1"), 4);
  const second = attemptAt("pay_1", { attemptId: "att_2", seq: 2, idempotencyKey: "key_2" });
  await expect(insertAttempt(store.db, second, 5)).rejects.toThrow(/unique/i);
  expect((await liveAttempt(store.db, "biz_1", "pay_1"))?.attemptId).toBe("att_pay_1");
});

test("live attempts are found among more payables than a statement takes values", async () => {
  const store = await approvedRun(["pay_1"]);
  await insertAttempt(store.db, attemptAt("pay_1"), 4);
  const many = Array.from({ length: 40_000 }, (_, index) => `pay_${index}`);
  expect([...(await liveAttemptsOf(store.db, "biz_1", many)).keys()]).toEqual(["pay_1"]);
});

test("a final answer is never changed by a late result", async () => {
  const store = await approvedRun();
  await insertAttempt(store.db, attemptAt("pay_1"), 4);
  expect(await changeLiveAttempt(store.db, "att_pay_1", { state: "applied" }, 5)).toBe(true);
  expect(await changeLiveAttempt(store.db, "att_pay_1", { state: "dead" }, 6)).toBe(false);
});
