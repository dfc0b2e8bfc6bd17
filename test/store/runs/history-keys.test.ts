import { expect, test } from "vitest";
import type { KybOnboardingPlaybook } from "../../../src/contracts/playbook.ts";
import { cancelOfPayments } from "../../../src/domain/cancellations/policy.ts";
import {
  changeCancellation,
  insertCancellation,
} from "../../../src/store/cancellations/cancellations.ts";
import { changeTopUp, insertTopUp } from "../../../src/store/deposits/deposits.ts";
import type { Store } from "../../../src/store/index.ts";
import { openIncident } from "../../../src/store/incidents/incidents.ts";
import { endOnboarding, recordOnboarding } from "../../../src/store/onboarding/onboardings.ts";
import { updateRetry, upsertRetry } from "../../../src/store/retries/retries.ts";
import { keysOfOpenWork, noteHistoryKey } from "../../../src/store/runs/history-keys.ts";
import { setRunPhase, upsertRun } from "../../../src/store/runs/runs.ts";
import { newRun } from "../fixtures.ts";
import { testStore } from "../support.ts";

const acme = { businessId: "biz_1", business: "acme" };
const bill = { businessId: "biz_1", payableId: "pay_1" };
const workflowId = "workflow_1";

async function bounced(store: Store): Promise<void> {
  const why = {
    code: "R01" as const,
    reason: "R01",
    roles: ["controller"],
    failedAtMs: 1,
    nowMs: 1,
  };
  await store.transaction((trx) =>
    openIncident(trx, { ...acme, ...why, workflowId, sourceId: "balance" }),
  );
}

/** Begins some work, and returns a function that ends it. */
type Work = (store: Store) => Promise<() => Promise<unknown>>;

const WORK: readonly (readonly [string, Work])[] = [
  [
    "a run",
    async ({ db }) => {
      const { runId } = await upsertRun(db, newRun());
      return () => setRunPhase(db, runId, { phase: "completed", endedAtMs: 2 });
    },
  ],
  [
    "a bill that failed",
    async ({ db }) => {
      await upsertRetry(db, { ...bill, ...acme, workflowId, runId: "run_1", nowMs: 1 });
      return () => updateRetry(db, bill, { phase: "ended" }, 2);
    },
  ],
  [
    "an onboarding",
    async (store) => {
      const begun = {
        ...{ ...acme, workflowId, playbook: "kyb", playbookRevision: 1, nowMs: 1 },
        ...{ policy: {} as KybOnboardingPlaybook, launchedBy: "lena", launchedByTokenId: null },
      };
      await store.transaction((trx) => recordOnboarding(trx, begun));
      return () => store.transaction((trx) => endOnboarding(trx, "biz_1", 2));
    },
  ],
  [
    "a cancellation",
    async (store) => {
      await store.transaction((trx) =>
        insertCancellation(trx, {
          ...{ ...acme, workflowId, playbook: "", policy: cancelOfPayments([]), runId: null },
          ...{ reason: "wrong", requestedBy: "olga", nowMs: 1 },
        }),
      );
      return () => changeCancellation(store.db, workflowId, { endedAtMs: 2 });
    },
  ],
  [
    "an account that bounced",
    async (store) => {
      await bounced(store);
      return () => store.db.updateTable("incidents").set({ phase: "ended" }).execute();
    },
  ],
  [
    "a deposit that is on its way after its account was decided about",
    async (store) => {
      await bounced(store);
      await store.db.updateTable("incidents").set({ phase: "ended" }).execute();
      const topUp = await store.transaction((trx) =>
        insertTopUp(trx, {
          ...{ ...acme, sourceId: "balance", subject: "deposit/1", owner: workflowId },
          ...{ policyRunId: "run_1", requestNo: 1, amountCents: 100, planHash: "plan" },
          ...{ neededOn: "2026-03-03", makeBy: "2026-03-02", arrivesOn: "2026-03-03" },
          ...{ late: false, account: { bankAccountId: "bank", name: null, last4: null } },
          ...{ hash: "hash", approvers: ["owner"], quorum: 1, sinceMs: 1, nowMs: 1 },
        }),
      );
      const move = (from: "proposed" | "on-its-way", state: "on-its-way" | "completed") =>
        store.transaction((trx) => changeTopUp(trx, topUp, [from], { state }, 2));
      await move("proposed", "on-its-way");
      return () => move("on-its-way", "completed");
    },
  ],
];

test.each(WORK)(
  "a history key is needed until %s that may have used it has ended",
  async (_, begin) => {
    const { store } = await testStore();
    await noteHistoryKey(store.db, "old");
    expect(await keysOfOpenWork(store.db)).toEqual([]);
    const end = await begin(store);
    expect(await keysOfOpenWork(store.db)).toEqual(["old"]);
    await end();
    expect(await keysOfOpenWork(store.db)).toEqual([]);
  },
);
