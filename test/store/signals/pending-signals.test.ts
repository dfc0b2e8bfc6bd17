import { expect, test } from "vitest";
import { HOUR_MS } from "../../../src/contracts/durations.ts";
import type { LineState } from "../../../src/contracts/line-states.ts";
import type { FailureRule } from "../../../src/contracts/playbook.ts";
import { cancelOfPayments } from "../../../src/domain/cancellations/policy.ts";
import { insertItem } from "../../../src/store/cancellations/cancellation-items.ts";
import {
  changeCancellation,
  insertCancellation,
} from "../../../src/store/cancellations/cancellations.ts";
import { createHold, endHolds, type NewHold, releaseHold } from "../../../src/store/holds/holds.ts";
import { decideIncident, openIncident } from "../../../src/store/incidents/incidents.ts";
import type { Store } from "../../../src/store/index.ts";
import { storePlan } from "../../../src/store/plans/plan-writes.ts";
import { requestRetry, updateRetry, upsertRetry } from "../../../src/store/retries/retries.ts";
import { keepRetryCase } from "../../../src/store/lines/retry-cases.ts";
import { requestCancel, setRunPhase, upsertRun } from "../../../src/store/runs/runs.ts";
import { clearWait, setWait } from "../../../src/store/runs/waits.ts";
import {
  deletePendingSignals,
  oldestPendingSignals,
  signalOnCommit,
} from "../../../src/store/signals/pending-signals.ts";
import { newRun, planLine, planSummary } from "../fixtures.ts";
import { testStore } from "../support.ts";

const businessId = "biz_1";

/** Returns the workflows with pending signals, and deletes their signals. */
async function takeSignals(store: Store): Promise<string[]> {
  const pendingSignals = await oldestPendingSignals(store.db, 100);
  await deletePendingSignals(store.db, pendingSignals);
  return pendingSignals.map(({ workflowId }) => workflowId).toSorted();
}

/** Plans a run of two bills: `a…` of one vendor, and `b…` of another, paid from another account. */
async function plannedRun(store: Store, period: string, playbook = "weekly"): Promise<string> {
  const { run, runId } = await upsertRun(store.db, newRun({ period, playbook }));
  const lines = [
    planLine(`a${period}`, { contactId: "con_a" }),
    planLine(`b${period}`, { contactId: "con_b" }),
  ];
  await store.transaction((trx) =>
    storePlan(trx, { run, plan: { summary: planSummary(lines), lines, skipped: [] }, nowMs: 1 }),
  );
  await store.db
    .updateTable("run_lines")
    .set({ source_id: "bank_b" })
    .where("payable_id", "=", `b${period}`)
    .execute();
  return runId;
}

async function setState(store: Store, payableId: string, state: LineState): Promise<void> {
  const line = store.db.updateTable("run_lines").set({ state });
  await line.where("payable_id", "=", payableId).execute();
}

/**
 * Makes a failed bill with its retry, which waits for an incident of the source if one is given.
 */
async function failed(store: Store, runId: string, payableId: string, sourceId?: string) {
  const workflowId = `retry/${payableId}`;
  const key = { businessId, payableId };
  await upsertRetry(store.db, { ...key, business: "acme", workflowId, runId, nowMs: 1 });
  await setState(store, payableId, "retrying");
  if (sourceId === undefined) return workflowId;
  await keepRetryCase(store.db, {
    ...key,
    ...{ failedAtMs: 1, failedRealMs: 1, sourceId, rule: RULE },
    ...{ giveUpAfterDays: 30, giveUpNotify: [], waitsFor: "incident" },
  });
  return workflowId;
}

function hold(store: Store, on: Pick<NewHold, "scope" | "value">, untilMs: number | null = null) {
  const said = { reason: "Disputed.", author: "otto", untilMs, nowMs: 1 };
  return store.transaction((trx) => createHold(trx, { businessId, ...on, ...said }));
}

test.each([
  ["payable", "a2026-11-05", ["one", "retry/a2026-11-05"]],
  ["payable", "a2026-11-12", ["two"]],
  ["contact", "con_b", ["one", "two"]],
  ["source", "bank_b", ["one", "two"]],
  ["run", "one", ["one", "retry/a2026-11-05"]],
  ["playbook", "rent", ["two"]],
  ["all", "", ["one", "retry/a2026-11-05", "two"]],
] as const)(
  "a hold on the %s %s signals every workflow that it may stop",
  async (scope, value, whom) => {
    const { store } = await testStore();
    const one = await plannedRun(store, "2026-11-05");
    const two = await plannedRun(store, "2026-11-12", "rent");
    const ended = await plannedRun(store, "2026-11-19", "rent");
    await setRunPhase(store.db, ended, { phase: "completed", endedAtMs: 2 });
    await failed(store, one, "a2026-11-05");
    await failed(store, ended, "b2026-11-19");
    await updateRetry(store.db, { businessId, payableId: "b2026-11-19" }, { phase: "ended" }, 2);
    await takeSignals(store);
    const named = new Map([
      ["one", one],
      ["two", two],
    ]);
    const expected = whom.map((id) => named.get(id) ?? id).toSorted();

    const made = await hold(store, { scope, value: named.get(value) ?? value }, 10);
    expect(await takeSignals(store)).toEqual(expected);
    const times = { businessMs: 11, nowMs: 11 };
    await store.transaction((trx) => endHolds(trx, businessId, times));
    expect(await takeSignals(store)).toEqual(expected);
    expect(await store.transaction((trx) => releaseHold(trx, made.holdId, "olga", 12))).toBe(
      undefined,
    );
    expect(await takeSignals(store)).toEqual([]);
  },
);

test("a hold signals no run whose line of the bill has ended", async () => {
  const { store } = await testStore();
  await plannedRun(store, "2026-11-05");
  await setState(store, "a2026-11-05", "settled");
  await takeSignals(store);
  await hold(store, { scope: "payable", value: "a2026-11-05" });
  expect(await takeSignals(store)).toEqual([]);
});

test("releasing a hold signals the incident or the cancellation that set it", async () => {
  const { store } = await testStore();
  const { incident } = await store.transaction((trx) => openIncident(trx, bounced));
  const withheld = await hold(store, { scope: "payable", value: "pay_1" });
  await store.transaction((trx) => insertCancellation(trx, cancellation));
  await store.transaction((trx) => insertItem(trx, itemOf(withheld.holdId), 1));
  await takeSignals(store);
  await store.transaction(async (trx) => {
    await releaseHold(trx, incident.holdId, "olga", 2);
    await releaseHold(trx, withheld.holdId, "olga", 2);
  });
  expect(await takeSignals(store)).toEqual(
    [cancellation.workflowId, incident.workflowId].toSorted(),
  );
});

test("a decision about a funding account signals its incident and the retries that wait for it", async () => {
  const { store } = await testStore();
  const runId = await plannedRun(store, "2026-11-05");
  const { incident } = await store.transaction((trx) => openIncident(trx, bounced));
  const waits = await failed(store, runId, "a2026-11-05", "bank_main");
  await failed(store, runId, "b2026-11-05");
  await takeSignals(store);
  const said = { decision: "other-source", by: "carla", reason: "Empty." } as const;
  const decide = () =>
    store.transaction((trx) => decideIncident(trx, incident, { ...said, nowMs: 2, businessMs: 2 }));
  expect(await decide()).toBe(true);
  expect(await takeSignals(store)).toEqual([incident.workflowId, waits].toSorted());
  expect(await decide()).toBe(false);
  expect(await takeSignals(store)).toEqual([]);
});

test("cancelling a run signals the run, its retries, and the holds on its bills", async () => {
  const { store } = await testStore();
  const runId = await plannedRun(store, "2026-11-05");
  const retry = await failed(store, runId, "a2026-11-05");
  const closed = { ...cancellation, runId, workflowId: "closed" };
  await store.transaction((trx) => insertCancellation(trx, { ...cancellation, runId }));
  await store.transaction((trx) => insertCancellation(trx, closed));
  await changeCancellation(store.db, "closed", { endedAtMs: 2 });
  await takeSignals(store);
  const cancel = () => store.transaction((trx) => requestCancel(trx, runId, "olga", 2));
  expect(await cancel()).toBe("requested");
  expect(await takeSignals(store)).toEqual([cancellation.workflowId, retry, runId].toSorted());
  expect(await cancel()).toBe("already");
  expect(await takeSignals(store)).toEqual([]);
});

test("a fault of the whole business signals its open runs when it begins and when it ends", async () => {
  const { store } = await testStore();
  const runId = await plannedRun(store, "2026-11-05");
  const ended = await plannedRun(store, "2026-11-12");
  await setRunPhase(store.db, ended, { phase: "completed", endedAtMs: 2 });
  const wait = { businessId, sourceId: "", code: "rate_limited" as const };
  const begin = () =>
    store.transaction((trx) => setWait(trx, { ...wait, message: "Slow.", nowMs: 1, realMs: 1 }));
  await begin();
  expect(await takeSignals(store)).toEqual([runId]);
  await begin();
  expect(await takeSignals(store)).toEqual([]);
  await store.transaction((trx) => clearWait(trx, { ...wait, realMs: 2 }));
  expect(await takeSignals(store)).toEqual([runId]);
});

test("moving the clock signals every open workflow", async () => {
  const { store } = await testStore();
  const runId = await plannedRun(store, "2026-11-05");
  const retry = await failed(store, runId, "a2026-11-05");
  const { incident } = await store.transaction((trx) => openIncident(trx, bounced));
  await store.transaction((trx) => insertCancellation(trx, cancellation));
  await takeSignals(store);
  await store.transaction(async (trx) => signalOnCommit(trx, businessId, { kind: "clock" }));
  const all = [runId, retry, incident.workflowId, cancellation.workflowId];
  expect(await takeSignals(store)).toEqual(all.toSorted());
});

test("a person's request signals the retry of the failed bill", async () => {
  const { store } = await testStore();
  const asked = { businessId, payableId: "pay_1", business: "acme", workflowId: "retry/pay_1" };
  await store.transaction((trx) =>
    requestRetry(trx, { ...asked, runId: null, by: "otto", nowMs: 1 }),
  );
  expect(await takeSignals(store)).toEqual(["retry/pay_1"]);
});

test("after a commit a process gets the signals of its own transactions, each once", async () => {
  const { store } = await testStore();
  const heard: string[] = [];
  const hearNoMore = store.afterCommit((pendingSignals) => {
    for (const { workflowId } of pendingSignals) heard.push(workflowId);
  });
  const fact = { kind: "workflow", workflowId: "run_1" } as const;
  await store.transaction(async (trx) => {
    signalOnCommit(trx, businessId, fact);
    signalOnCommit(trx, businessId, fact);
    await Promise.resolve();
    expect(heard).toEqual([]);
  });
  expect(heard).toEqual(["run_1"]);
  const undone = store.transaction(async (trx) => {
    signalOnCommit(trx, businessId, { ...fact, workflowId: "run_2" });
    await Promise.reject(new Error("refused"));
  });
  await expect(undone).rejects.toThrow("refused");
  hearNoMore();
  await store.transaction(async (trx) => signalOnCommit(trx, businessId, fact));
  expect(heard).toEqual(["run_1"]);
  expect(await takeSignals(store)).toEqual(["run_1", "run_1"]);
});

test("the oldest signals come first, with their age, and only those that were sent are deleted", async () => {
  const { store } = await testStore();
  for (const workflowId of ["first", "second", "third"]) {
    await store.transaction(async (trx) =>
      signalOnCommit(trx, businessId, { kind: "workflow", workflowId }),
    );
  }
  const older = store.db
    .updateTable("pending_signals")
    .set((eb) => ({ at_ms: eb("at_ms", "-", HOUR_MS) }));
  await older.where("workflow_id", "=", "second").execute();
  const oldest = await oldestPendingSignals(store.db, 2);
  expect(oldest[0]?.workflowId).toBe("second");
  expect(oldest[0]?.ageMs).toBeGreaterThanOrEqual(HOUR_MS);
  expect(oldest[1]?.ageMs).toBeLessThan(HOUR_MS);
  await deletePendingSignals(store.db, oldest.slice(0, 1));
  expect(await takeSignals(store)).toEqual(["first", "third"]);
});

const bounced = {
  ...{ businessId, sourceId: "bank_main", business: "acme", workflowId: "incident/bank_main" },
  ...{
    code: "R01" as const,
    reason: "Insufficient funds.",
    roles: ["owner"],
    nowMs: 1,
    failedAtMs: 1,
  },
};

const cancellation = {
  ...{ workflowId: "cancel/1", businessId, business: "acme", playbook: "careful" },
  ...{ runId: null, reason: "Looked at first.", requestedBy: "careful", nowMs: 1 },
  policy: cancelOfPayments([]),
};

const RULE: FailureRule = {
  ...{ codes: ["R01"], words: [], action: "retry", pause: true, payAgain: false },
  ...{ when: null, atMost: 2, by: ["owner"] },
};

function itemOf(holdId: string): Parameters<typeof insertItem>[1] {
  return {
    ...{ workflowId: cancellation.workflowId, itemNo: 0, businessId, paymentId: null, holdId },
    ...{ payableId: "pay_1", contactId: "con_a", amountCents: 100, state: "withheld", open: true },
    ...{ reason: null, releaseByMs: null, cancelledAtMs: null, notBeforeMs: 0, pollAtMs: 0 },
  };
}
