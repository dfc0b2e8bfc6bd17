import { describe, expect, test } from "vitest";
import { appendAudit, endOfTrail } from "../../../src/store/audit/audit.ts";
import { claimPayables } from "../../../src/store/payables/claims.ts";
import { listHolds } from "../../../src/store/holds/holds.ts";
import { insertEvents, knownEventIds, markDispatched } from "../../../src/store/events/inbox.ts";
import type { Store } from "../../../src/store/index.ts";
import { storePlan } from "../../../src/store/plans/plan-writes.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { reservedCents } from "../../../src/store/lines/reserved.ts";
import { upsertRetry } from "../../../src/store/retries/retries.ts";
import { setRunPhase, upsertRun } from "../../../src/store/runs/runs.ts";
import { databaseNowMs } from "../../../src/store/sql/database-clock.ts";
import { holdForLoss, lossNoticed } from "../../../src/store/janitor/behind.ts";
import { auditHead, hasAuditHead } from "../../../src/store/janitor/heads.ts";
import { pruneInbox } from "../../../src/store/janitor/prune.ts";
import {
  claimStrays,
  ownedRetries,
  releaseOrphanClaims,
} from "../../../src/store/janitor/open-runs.ts";
import { newRun, planLine, planSummary } from "../fixtures.ts";
import { closeSubjectOn, openSubjectOn, testStore } from "../support.ts";

const businessId = "biz_1";

async function entry(store: Store, action: string): Promise<string> {
  const made = { businessId, nowMs: 1, actor: "lena", action, subject: "x", details: {} };
  await store.transaction((trx) => appendAudit(trx, made));
  return (await endOfTrail(store.db, businessId)) ?? "";
}

/** Stores a run with a line for each bill, in the given states. */
async function runWith(store: Store, states: Readonly<Record<string, string>>): Promise<string> {
  const lines = Object.keys(states).map((payableId) => planLine(payableId));
  const runId = await store.transaction(async (trx) => {
    const { run } = await upsertRun(trx, newRun());
    const plan = { summary: planSummary(lines), lines, skipped: [] };
    await storePlan(trx, { run, plan, nowMs: 1 });
    return run.runId;
  });
  for (const [payableId, state] of Object.entries(states)) {
    await store.db
      .updateTable("run_lines")
      .set({ state })
      .where("payable_id", "=", payableId)
      .execute();
  }
  return runId;
}

async function claimed(store: Store): Promise<string[]> {
  const rows = await store.db
    .selectFrom("claims")
    .select("payable_id")
    .orderBy("payable_id")
    .execute();
  return rows.map((row) => row.payable_id);
}

describe("a store that is older than what was done with it", () => {
  test("a head of the trail is found even after later entries, and a lost entry's is not", async () => {
    const { store } = await testStore();
    const first = await entry(store, "first");
    const last = await entry(store, "last");
    const beforeMs = await databaseNowMs(store.db);
    const head = await auditHead(store.db, businessId);
    expect(head?.hash).toBe(last);
    expect(head?.atMs).toBeGreaterThanOrEqual(beforeMs);
    expect(await hasAuditHead(store.db, businessId, first)).toBe(true);
    expect(await hasAuditHead(store.db, businessId, last)).toBe(true);
    expect(await hasAuditHead(store.db, businessId, "of a lost entry")).toBe(false);
    expect(await hasAuditHead(store.db, "biz_2", first)).toBe(false);
  });

  test("everything is put on hold once for one loss, and again for the next", async () => {
    const { store } = await testStore();
    const loss = { businessId, evidence: "a run is missing", serviceMs: null, businessMs: null };
    const hold = (hadItAtMs: number) =>
      store.transaction((trx) => holdForLoss(trx, { ...loss, hadItAtMs }));
    const nowMs = await databaseNowMs(store.db);
    expect(await hold(nowMs - 4_000)).toBe(true);
    expect(await hold(nowMs - 1_000)).toBe(false);
    const lastMs = (await lossNoticed(store.db, businessId))?.atMs ?? 0;
    expect(await hold(lastMs + 1)).toBe(true);
    const told = await listNotices(store.db, { kind: "store-behind", limit: 9 });
    expect(told.map(({ roles }) => roles)).toEqual([["operator"], ["operator"]]);
    const holds = await listHolds(store.db, { businessId, active: true, nowMs: 0 });
    expect(holds.map(({ scope, author }) => [scope, author])).toEqual([
      ["all", "payrun"],
      ["all", "payrun"],
    ]);
  });

  test("a noticed loss has the time of the database's clock, which all processes share", async () => {
    const { store } = await testStore();
    const earliestMs = await databaseNowMs(store.db);
    const loss = {
      businessId,
      evidence: "a run is missing",
      hadItAtMs: 1_000,
      serviceMs: 7_000,
      businessMs: null,
    };
    await store.transaction((trx) => holdForLoss(trx, loss));
    const noticed = await lossNoticed(store.db, businessId);
    expect(noticed?.atMs).toBeGreaterThanOrEqual(earliestMs);
    expect(noticed?.serviceMs).toBe(7_000);
    expect(await lossNoticed(store.db, "biz_2")).toBeNull();
  });
});

describe("orphaned claims", () => {
  test("a claim is released unless a request, its line or its owner is open", async () => {
    const { store } = await testStore();
    const runId = await runWith(store, { done: "settled", open: "scheduled", unknown: "settled" });
    const payableIds = ["done", "open", "unknown"];
    await claimPayables(store.db, { businessId, payableIds, owner: runId, nowMs: 10 });
    await openSubjectOn(store, "unknown");
    expect(await releaseOrphanClaims(store.db, businessId, 100)).toBe(0);
    await setRunPhase(store.db, runId, { phase: "completed", endedAtMs: 20 });
    expect(await releaseOrphanClaims(store.db, businessId, 10)).toBe(0);
    expect(await releaseOrphanClaims(store.db, businessId, 100)).toBe(1);
    expect(await claimed(store)).toEqual(["open", "unknown"]);
    await closeSubjectOn(store, "unknown");
    expect(await releaseOrphanClaims(store.db, businessId, 100)).toBe(1);
    expect(await claimed(store)).toEqual(["open"]);
  });

  test("claims of owners of another kind are left alone", async () => {
    const { store } = await testStore();
    const owner = "cancel-scheduled-payments/acme/1";
    await claimPayables(store.db, { businessId, payableIds: ["p1"], owner, nowMs: 10 });
    expect(await releaseOrphanClaims(store.db, businessId, 100)).toBe(0);
  });

  test("a payable with an open request but no owner is claimed again", async () => {
    const { store } = await testStore();
    const runId = await runWith(store, { p1: "unknown" });
    await openSubjectOn(store, "p1", runId);
    expect(await claimStrays(store.db, businessId, 10)).toBe(1);
    expect(await claimed(store)).toEqual(["p1"]);
    expect(await claimStrays(store.db, businessId, 10)).toBe(0);
  });
});

describe("retries that must have a workflow", () => {
  test("a retry must have a workflow while it owns its bill and has not ended", async () => {
    const { store } = await testStore();
    const workflowId = "retry-failed-payment/acme/p1";
    await upsertRetry(store.db, {
      businessId,
      payableId: "p1",
      business: "acme",
      workflowId,
      runId: null,
      nowMs: 1,
    });
    expect(await ownedRetries(store.db, businessId)).toEqual([]);
    await claimPayables(store.db, { businessId, payableIds: ["p1"], owner: workflowId, nowMs: 1 });
    const owned = { payableId: "p1", workflowId, maySend: true, updatedAtMs: 1 };
    expect(await ownedRetries(store.db, businessId)).toEqual([owned]);
    await store.db.updateTable("retries").set({ phase: "parked" }).execute();
    expect(await ownedRetries(store.db, businessId)).toEqual([{ ...owned, maySend: false }]);
    await store.db.updateTable("retries").set({ phase: "ended" }).execute();
    expect(await ownedRetries(store.db, businessId)).toEqual([]);
  });
});

describe("money that is reserved from a source", () => {
  const from = { businessId, sourceId: "balance", today: "2026-11-04" };

  test("money stays reserved until the service has taken it, even for a bill that is retried", async () => {
    const { store } = await testStore();
    const runId = await runWith(store, {
      p1: "scheduled",
      p2: "held",
      p3: "retrying",
      p4: "processing",
      p5: "settled",
    });
    expect(await reservedCents(store.db, from)).toBe(30_000);
    expect(await reservedCents(store.db, { ...from, exceptRunId: runId })).toBe(0);
    const retry = { businessId, payableId: "p3", business: "acme", workflowId: "w", runId };
    await upsertRetry(store.db, { ...retry, phase: "following", nowMs: 1 });
    expect(await reservedCents(store.db, from)).toBe(30_000);
    // Its new payment has executed: the service has taken the money by now.
    expect(await reservedCents(store.db, { ...from, today: "2026-11-06" })).toBe(20_000);
  });

  test("money that the service took while the balance was read stays reserved", async () => {
    const { store } = await testStore();
    await runWith(store, { p1: "processing", p2: "processing" });
    await store.db
      .updateTable("run_lines")
      .set({ updated_at_ms: 500 })
      .where("payable_id", "=", "p1")
      .execute();
    expect(await reservedCents(store.db, { ...from, readAtMs: 400 })).toBe(10_000);
    expect(await reservedCents(store.db, { ...from, readAtMs: 600 })).toBe(0);
  });
});

describe("pruning", () => {
  test("an event is deleted from the inbox once it is old and dispatched, and not before", async () => {
    const { store } = await testStore();
    const event = (eventId: string, receivedAtMs: number) => ({
      businessId,
      eventId,
      type: "payable.paid",
      sequence: "1",
      object: "payable",
      objectId: "p1",
      createdAt: "2026-01-01T00:00:00.000Z",
      receivedAtMs,
      via: "webhook" as const,
      body: "{}",
    });
    await insertEvents(store.db, [event("told", 10), event("waiting", 10), event("young", 90)]);
    await store.transaction((trx) => markDispatched(trx, businessId, ["told", "young"], 95));
    expect(await pruneInbox(store.db, businessId, 50)).toBe(1);
    const left = await knownEventIds(store.db, businessId, ["told", "waiting", "young"]);
    expect([...left].sort()).toEqual(["waiting", "young"]);
  });
});
