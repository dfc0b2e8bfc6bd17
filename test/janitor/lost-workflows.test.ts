import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { beforeEach, expect } from "vitest";
import { cancelScheduledPaymentsId } from "../../src/contracts/workflow-kinds.ts";
import { cancelOfPayments } from "../../src/domain/cancellations/policy.ts";
import { FOLLOWED, followLost } from "../../src/janitor/lost-workflows.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import {
  changeCancellation,
  insertCancellation,
} from "../../src/store/cancellations/cancellations.ts";
import { changeTopUp, insertTopUp } from "../../src/store/deposits/deposits.ts";
import { decideIncident, openIncident } from "../../src/store/incidents/incidents.ts";
import { type MoneyWorld, test } from "../activities/money-world.ts";

const started: string[] = [];

beforeEach(() => {
  started.length = 0;
});

/** Runs one pass of the janitor over one kind, with a server that answers by `describe`. */
async function pass(
  world: MoneyWorld,
  kind: keyof typeof FOLLOWED,
  describe: () => Promise<object>,
): Promise<void> {
  const temporal = {
    withDeadline: (_: unknown, work: () => Promise<unknown>) => work(),
    workflow: {
      getHandle: () => ({ describe }),
      signalWithStart: (_: string, { workflowId }: { workflowId: string }) => {
        started.push(workflowId);
        return Promise.resolve();
      },
    },
  } as unknown as Client;
  const context = { ...world.context(), temporal, profiles: { all: () => [world.world.profile] } };
  await followLost(context, world.world.profile, new Set(), FOLLOWED[kind]);
}

const unknown = () => Promise.reject(new WorkflowNotFoundError("gone", "id", undefined));

test("a cancellation that ends while the janitor looks for its workflow gets no new one", async ({
  world,
}) => {
  const { store, businessId } = world;
  const workflowId = cancelScheduledPaymentsId("acme", "ended-meanwhile");
  await store.transaction((trx) =>
    insertCancellation(trx, {
      ...{
        workflowId,
        businessId,
        business: "acme",
        playbook: "",
        policy: cancelOfPayments(["p"]),
      },
      ...{ runId: null, reason: "wrong", requestedBy: "olga", nowMs: 1 },
    }),
  );
  await pass(world, "cancelScheduledPayments", async () => {
    await changeCancellation(store.db, workflowId, { endedAtMs: 2 });
    return { status: { name: "COMPLETED" }, closeTime: new Date() };
  });
  expect(started).toEqual([]);
  const entries = await listAudit(store.db, { businessId, subject: workflowId });
  expect(entries.map(({ action }) => action)).not.toContain("cancellation.follower-started");
});

test("a deposit on its way is followed after its incident was decided, even if its workflow is lost", async ({
  world,
}) => {
  const { store, businessId } = world;
  const { runId } = await world.plannedRun([{}]);
  const workflowId = "funding-incident/acme/balance";
  const about = { businessId, business: "acme", sourceId: "balance" };
  const times = { nowMs: 1, businessMs: 1 };
  const topUp = await store.transaction(async (trx) => {
    const why = { code: "R01" as const, reason: "R01", roles: ["controller"], failedAtMs: 1 };
    const { incident } = await openIncident(trx, { ...about, ...why, workflowId, nowMs: 1 });
    const made = await insertTopUp(trx, {
      ...{ ...about, subject: "deposit/balance/incident/1", owner: workflowId, policyRunId: runId },
      ...{ requestNo: 1, amountCents: 100, neededOn: "2026-03-03", makeBy: "2026-03-02" },
      ...{ arrivesOn: "2026-03-03", late: false, planHash: "plan", hash: "hash" },
      ...{ account: { bankAccountId: "bank", name: null, last4: null } },
      ...{ approvers: ["owner"], quorum: 1, sinceMs: 1, nowMs: 1 },
    });
    const decision = { decision: "released", by: "olga", reason: "fine", ...times } as const;
    await decideIncident(trx, incident, decision);
    return made;
  });
  const move = async (from: "proposed" | "on-its-way", state: "on-its-way" | "completed") => {
    await store.transaction((trx) => changeTopUp(trx, topUp, [from], { state }, 2));
  };
  await pass(world, "fundingIncident", unknown);
  expect(started).toEqual([]);
  await move("proposed", "on-its-way");
  await pass(world, "fundingIncident", unknown);
  expect(started).toEqual([workflowId]);
  await move("on-its-way", "completed");
  await pass(world, "fundingIncident", unknown);
  expect(started).toEqual([workflowId]);
});
