import { expect, test } from "vitest";
import {
  cancelScheduledPaymentsId,
  fundingIncidentId,
  kybOnboardingId,
  retryFailedPaymentId,
} from "../../../src/contracts/workflow-kinds.ts";
import { cancelOfPayments } from "../../../src/domain/cancellations/policy.ts";
import { launchedByEvents } from "../../../src/domain/events/triggers.ts";
import { insertItem } from "../../../src/store/cancellations/cancellation-items.ts";
import {
  changeCancellation,
  insertCancellation,
} from "../../../src/store/cancellations/cancellations.ts";
import { openIncident } from "../../../src/store/incidents/incidents.ts";
import type { Store } from "../../../src/store/index.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { type ListedFilter, listedPage } from "../../../src/store/listed/listed.ts";
import { recordOnboarding } from "../../../src/store/onboarding/onboardings.ts";
import { updateRetry, upsertRetry } from "../../../src/store/retries/retries.ts";
import { setRunPhase, upsertRun } from "../../../src/store/runs/runs.ts";
import { clockAt, clockOfRow } from "../../../src/store/sql/clocks.ts";
import { approvedRun } from "../approved-run.ts";
import { newRun } from "../fixtures.ts";
import { testStore } from "../support.ts";

const OWN = { businessId: "biz_1", business: "acme" };
const INCIDENT = fundingIncidentId("acme", "bank_1");
const RETRY = retryFailedPaymentId("acme", "p1");
const CANCELLATION = cancelScheduledPaymentsId("acme", "abc");
const ONBOARDING = kybOnboardingId("acme");
const WHOLE = { page: 1, pageSize: 100 };

/** Returns the ids that a list shows. */
async function listed(store: Store, filter: ListedFilter & { readonly left?: readonly string[] }) {
  const { left = [], ...asked } = filter;
  const known = { businessIds: undefined, clock: clockAt(5_000), left };
  const { ids, totalCount } = await listedPage(store.db, { ...asked, ...known }, WHOLE);
  expect(totalCount).toBe(ids.length);
  return ids.map(({ id }) => id);
}

async function cancellation(store: Store, workflowId: string, nowMs: number, runId: string | null) {
  await store.transaction((trx) =>
    insertCancellation(trx, {
      ...{ ...OWN, workflowId, playbook: "stop", policy: cancelOfPayments([]), runId },
      ...{ reason: "wrong", requestedBy: "ann", nowMs },
    }),
  );
}

async function withheldBill(store: Store, workflowId: string, open: boolean) {
  const item = {
    ...{ workflowId, itemNo: 0, businessId: "biz_1", paymentId: null, payableId: "other" },
    ...{ contactId: null, amountCents: 4_200, state: "withheld" as const, open, reason: null },
    ...{ holdId: null, releaseByMs: null, cancelledAtMs: null, goesOutAtMs: null },
    ...{ notBeforeMs: 0, pollAtMs: 0 },
  };
  await insertItem(store.db, item, 1);
}

/** Makes a workflow of each kind, launched one second after the other. */
async function oneOfEach(store: Store): Promise<string> {
  const runId = await approvedRun(store, "weekly", ["p1"]);
  await changeLine(store.db, { runId, payableId: "p1" }, { state: "parked" }, 10);
  await cancellation(store, CANCELLATION, 2_000, null);
  await store.transaction((trx) =>
    openIncident(trx, {
      ...{ ...OWN, sourceId: "bank_1", workflowId: INCIDENT, code: "R01", reason: "short" },
      ...{ roles: ["controller"], nowMs: 3_000, failedAtMs: 3_000 },
    }),
  );
  const bill = { businessId: "biz_1", payableId: "p1" };
  await upsertRetry(store.db, {
    ...{ ...bill, business: "acme", workflowId: RETRY, runId, nowMs: 4_000 },
  });
  await updateRetry(store.db, bill, { phase: "parked", reason: "R01" }, 4_000);
  await store.transaction((trx) =>
    recordOnboarding(trx, {
      ...{ ...OWN, workflowId: ONBOARDING, playbook: "kyb", playbookRevision: 1 },
      ...{ policy: {} as never, launchedBy: "ann", launchedByTokenId: null, nowMs: 5_000 },
    }),
  );
  return runId;
}

test("the list has every kind, the latest launch first, and pages share nothing and miss nothing", async () => {
  const { store } = await testStore();
  const runId = await oneOfEach(store);
  const all = [ONBOARDING, RETRY, INCIDENT, CANCELLATION, runId];
  expect(await listed(store, {})).toEqual(all);
  const known = { businessIds: ["biz_1"], clock: clockAt(0), left: [] };
  const pages = await Promise.all(
    [1, 2, 3, 4].map((page) => listedPage(store.db, known, { page, pageSize: 2 })),
  );
  expect(pages.map(({ ids }) => ids.map(({ id }) => id))).toEqual([
    all.slice(0, 2),
    all.slice(2, 4),
    all.slice(4),
    [],
  ]);
  expect(pages.map(({ totalCount }) => totalCount)).toEqual([5, 5, 5, 5]);
  for (const businessIds of [["biz_2"], []]) {
    const { totalCount } = await listedPage(store.db, { ...known, businessIds }, WHOLE);
    expect(totalCount).toBe(0);
  }
});

test("runs that were launched in the same millisecond keep one order", async () => {
  const { store } = await testStore();
  for (const playbook of ["b", "c", "a"]) await upsertRun(store.db, newRun({ playbook }));
  const ids = await listed(store, {});
  expect(ids).toEqual(ids.toSorted((one, other) => other.localeCompare(one)));
});

test("each filter of the list holds for every kind, and filters add up", async () => {
  const { store } = await testStore();
  const runId = await oneOfEach(store);
  const shows = (filter: ListedFilter) => listed(store, filter);
  expect(await shows({ kind: "pay-run" })).toEqual([runId]);
  expect(await shows({ kind: "cancel-scheduled" })).toEqual([CANCELLATION]);
  expect(await shows({ kind: "hold" })).toEqual([]);
  expect(await shows({ kind: "retry-failed-payment", playbook: "weekly" })).toEqual([RETRY]);
  expect(await shows({ playbook: "weekly" })).toEqual([RETRY, runId]);
  expect(await shows({ playbook: "stop" })).toEqual([CANCELLATION]);
  expect(await shows({ playbook: "kyb" })).toEqual([ONBOARDING]);
  expect(await shows({ period: "2026-11-05" })).toEqual([RETRY, runId]);
  expect(await shows({ period: "2026-11-06" })).toEqual([]);
  expect(await shows({ phase: "tax" })).toEqual([ONBOARDING]);
  expect(await shows({ phase: "open" })).toEqual([INCIDENT]);
  expect(await shows({ phase: "settling" })).toEqual([RETRY]);
  expect(await shows({ phase: "choosing" })).toEqual([CANCELLATION]);
  expect(await shows({ phase: "choosing", playbook: "weekly" })).toEqual([]);
  expect(await shows({ fromMs: 4_000 })).toEqual([ONBOARDING, RETRY]);
  expect(await shows({ fromMs: 2_000, beforeMs: 4_000 })).toEqual([INCIDENT, CANCELLATION]);
});

test("what waits for a person and what doesn't are two halves of the list", async () => {
  const { store } = await testStore();
  const runId = await oneOfEach(store);
  expect(await listed(store, { needsAction: true })).toEqual([RETRY, INCIDENT, runId]);
  expect(await listed(store, { needsAction: false })).toEqual([ONBOARDING, CANCELLATION]);
  // What only the service's records of payments can say, the caller has asked.
  const left = [CANCELLATION];
  expect(await listed(store, { needsAction: true, left })).toContain(CANCELLATION);
  expect(await listed(store, { needsAction: false, left })).toEqual([ONBOARDING]);
});

test("a cancel whose payment was never made needs nobody's action, but bills held back do", async () => {
  const { store } = await testStore();
  await cancellation(store, "withhold_1", 1, "run_1");
  await cancellation(store, "cancel_1", 2, null);
  await withheldBill(store, "withhold_1", true);
  await withheldBill(store, "cancel_1", false);
  expect(await listed(store, { needsAction: true })).toEqual(["withhold_1"]);
  expect(await listed(store, { needsAction: false })).toEqual(["cancel_1"]);
});

test("a run that completed counts as one with exceptions once money has come back", async () => {
  const { store } = await testStore();
  const runId = await approvedRun(store, "weekly", ["p1"]);
  await setRunPhase(store.db, runId, { phase: "completed", endedAtMs: 20 });
  const phases = async () => [
    await listed(store, { phase: "completed" }),
    await listed(store, { phase: "completed-with-exceptions" }),
  ];
  await changeLine(store.db, { runId, payableId: "p1" }, { state: "settled" }, 10);
  expect(await phases()).toEqual([[runId], []]);
  await changeLine(store.db, { runId, payableId: "p1" }, { state: "returned" }, 11);
  expect(await phases()).toEqual([[], [runId]]);
});

test("what an event started in vain isn't listed, whatever is asked for", async () => {
  const { store } = await testStore();
  const launchedBy = launchedByEvents("idle");
  const { runId } = await upsertRun(store.db, newRun({ playbook: "idle", launchedBy }));
  expect(await listed(store, {})).toEqual([runId]);
  await setRunPhase(store.db, runId, { phase: "completed", endedAtMs: 20 });
  await cancellation(store, "cancel_1", 1, null);
  await changeCancellation(store.db, "cancel_1", { phase: "completed", endedAtMs: 2 });
  for (const filter of [{}, { playbook: "idle" }, { kind: "pay-run" }] as const)
    expect(await listed(store, filter)).not.toContain(runId);
  // A person's request is listed, whatever it found.
  expect(await listed(store, {})).toEqual(["cancel_1"]);
});

test("whether an approval has expired is judged by the clock of each run's own business", async () => {
  const { store } = await testStore();
  const runId = await approvedRun(store, "weekly", ["p1"]);
  await changeLine(store.db, { runId, payableId: "p1" }, { state: "on-hold" }, 10);
  const asking = async (biz1Ms: number) => {
    const clocks = new Map([
      ["biz_0", 20_000],
      ["biz_1", biz1Ms],
    ]);
    const clock = clockOfRow("runs.business_id", clocks, 20_000);
    const known = { businessIds: undefined, clock, left: [], needsAction: true };
    return (await listedPage(store.db, known, WHOLE)).totalCount;
  };
  expect([await asking(9_999), await asking(10_001)]).toEqual([0, 1]);
});
