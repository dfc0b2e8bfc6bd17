import { MockActivityEnvironment } from "@temporalio/testing";
import { DefaultLogger } from "@temporalio/worker";
import { describe, expect } from "vitest";
import type { ActivityContext } from "../../../activities/shared/context.ts";
import { createActivities } from "../../../activities/index.ts";
import { retryFailedPaymentId, scheduledPayRunId } from "../../../src/contracts/workflow-kinds.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { createBusinessClocks } from "../../../src/actions/clocks.ts";
import { Profiles } from "../../../src/config/profiles.ts";
import { retryStatus } from "../../../src/reports/status/retry.ts";
import { explainIn } from "../explain.ts";
import { claimPayables } from "../../../src/store/payables/claims.ts";
import { inDays } from "../planning-world.ts";
import { upsertRetry } from "../../../src/store/retries/retries.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { storePlaybook } from "../../support/stored-playbook.ts";
import { type MoneyWorld, test } from "../money-world.ts";

interface Try {
  readonly step: keyof ReturnType<typeof createActivities>;
  readonly owner: string;
  readonly input: object;
  readonly attempt: number;
  readonly sinceMs?: number;
  readonly context?: ActivityContext;
}

/** Runs one try of an activity, as Temporal does. */
async function tries(
  world: MoneyWorld,
  { step, owner, input, attempt, sinceMs = 1_000, context }: Try,
) {
  const info = {
    ...{ attempt, activityType: step, scheduledTimestampMs: Date.now() - sinceMs },
    workflowExecution: { workflowId: owner, runId: "one" },
  };
  const environment = new MockActivityEnvironment(info, { logger: SILENT });
  const activities = createActivities(context ?? world.context());
  const activity = activities[step] as (given: object) => Promise<unknown>;
  return environment.run(activity, input);
}

/** What the status of a workflow is read with. */
function statusContext(world: MoneyWorld): Parameters<typeof retryStatus>[0] {
  const profile = world.context().profileOf("acme");
  return {
    store: world.store,
    profiles: new Profiles({ businesses: [profile] }),
    clocks: createBusinessClocks(),
  };
}

const SILENT = new DefaultLogger("ERROR", () => {});

const told = (world: MoneyWorld) => listNotices(world.store.db, { kind: "step-failed", limit: 20 });

/** As if the business had been removed from the profiles file. */
function withoutProfile(world: MoneyWorld): ActivityContext {
  const gone = () => {
    throw new Error("no profile is called “acme”");
  };
  return Object.defineProperties(world.context(), {
    ...{ profileOf: { value: gone }, clientOf: { value: gone }, clockOf: { value: gone } },
  });
}

describe("a step that keeps failing", () => {
  test("a run whose profile is missing notifies operators after eight tries, and its status says so within half a minute", async ({
    world,
  }) => {
    const { runId } = await world.plannedRun([{}]);
    const context = withoutProfile(world);
    const failing = { step: "reviewRun", owner: runId, input: { runId }, context } as const;
    await expect(tries(world, { ...failing, attempt: 5 })).rejects.toThrow(/no profile/);
    expect((await getRun(world.store.db, runId))?.waitingFor ?? "").not.toContain("fails");
    await expect(tries(world, { ...failing, attempt: 6 })).rejects.toThrow(/no profile/);
    expect((await getRun(world.store.db, runId))?.waitingFor).toContain("no profile is called");
    expect(await told(world)).toEqual([]);
    await expect(tries(world, { ...failing, attempt: 8 })).rejects.toThrow(/no profile/);
    expect(await told(world)).toMatchObject([
      { runId, roles: ["operator"], text: expect.stringContaining("no profile is called “acme”") },
    ]);
    const run = await world.store.db
      .selectFrom("runs")
      .select("waiting_for")
      .where("run_id", "=", runId)
      .executeTakeFirstOrThrow();
    expect(run.waiting_for).toBe(
      "a step that fails again and again: counting approvals and money: no profile is called “acme”. Correct what this names, in the service or in the settings (payrun doctor checks both); it is tried again by itself, and nothing is sent twice.",
    );
    await tries(world, { ...failing, attempt: 9, context: world.context() });
    expect((await world.assess(runId)).waitingFor).toContain("approval");
  });

  test("a bill says within half a minute that a step of its run, or of its retry, fails, and what to do", async ({
    world,
  }) => {
    const bill = { dueDate: inDays(8), contactId: "v1", status: "approved" };
    const { id: payableId } = await world.control.createPayable({ ...bill, totalAmountCents: 1 });
    const runId = await world.world.launch("weekly");
    const { businessId } = world;
    const claim = { businessId, payableIds: [payableId], owner: runId, nowMs: 1 };
    await world.store.transactionOf(businessId, (trx) => claimPayables(trx, claim));
    const context = withoutProfile(world);
    const ofRun = { step: "planRun", owner: runId, input: { runId }, context } as const;
    await expect(tries(world, { ...ofRun, attempt: 6 })).rejects.toThrow(/no profile|store/);
    const planning = await explainIn(world, payableId);
    expect(planning.history.reason).toContain("planning: ");
    expect(planning.text).toContain("Correct what this names, in the service or in the settings");
    await tries(world, { ...ofRun, attempt: 7, context: world.context() });
    await world.assess(runId);
    expect((await explainIn(world, payableId)).history.reason).toBeNull();

    const owner = retryFailedPaymentId("acme", payableId);
    const retry = { business: "acme", businessId, runId, nowMs: 1, payableId };
    await world.store.transaction((trx) => upsertRetry(trx, { ...retry, workflowId: owner }));
    await world.store.db.updateTable("claims").set({ owner }).execute();
    const input = { business: "acme", payableId };
    const ofRetry = { step: "reviewFailedPayment", owner, input, context } as const;
    await expect(tries(world, { ...ofRetry, attempt: 6 })).rejects.toThrow(/no profile/);
    const failed = await explainIn(world, payableId);
    expect(failed.history.reason).toContain("deciding about a failed payment: no profile");
    expect(await retryStatus(statusContext(world), owner)).toMatchObject({
      waitingFor: failed.history.reason,
    });
    await world.look(payableId);
    expect((await explainIn(world, payableId)).history.reason ?? "").not.toContain("fails");
  });

  test("a step whose tries are slow notifies operators after two minutes", async ({ world }) => {
    const { runId } = await world.plannedRun([{}]);
    const context = withoutProfile(world);
    const failing = { step: "followPayments", owner: runId, input: { runId }, context } as const;
    await expect(tries(world, { ...failing, attempt: 2, sinceMs: 130_000 })).rejects.toThrow(
      /no profile/,
    );
    expect(await told(world)).toHaveLength(1);
  });

  test.for([
    ["reviewFailedPayment", retryFailedPaymentId("acme", "bill_1"), { payableId: "bill_1" }],
    ["payAgain", retryFailedPaymentId("acme", "bill_1"), { payableId: "bill_1" }],
    ["launchRun", `${scheduledPayRunId("acme", "weekly")}-2026-11-26`, { playbook: "weekly" }],
  ] as const)(
    "a failing %s, whose workflow is not a run, notifies operators",
    async ([step, owner, more], { world }) => {
      await world.plannedRun([{}]);
      const { businessId } = world;
      await world.store.transactionOf(businessId, async (trx) => {
        const retry = { business: "acme", businessId, runId: null, nowMs: 1 };
        const workflowId = retryFailedPaymentId("acme", "bill_1");
        await upsertRetry(trx, { ...retry, payableId: "bill_1", workflowId });
      });
      await storePlaybook(world.store, { name: "weekly", text: "kind: pay-run\n" });
      await world.store.db.updateTable("playbooks").set({ compiled: "{ no JSON" }).execute();
      const input = { business: "acme", ...more };
      const failing = { step, owner, input, context: withoutProfile(world), attempt: 8 };
      await expect(tries(world, failing)).rejects.toThrow(/no profile|JSON/);
      const known = owner.replace("-2026-11-26", "");
      expect(await told(world)).toMatchObject([
        { runId: known, subject: `${step} of ${known} has failed` },
      ]);
    },
  );

  test("a failing step of a workflow that the store doesn't know is told without its words, once a day", async ({
    world,
  }) => {
    await world.plannedRun([{}]);
    for (const said of ["CALL +1 555 0100", "PAY MALLORY"]) {
      const input = { business: "acme", payableId: said, reason: said };
      const owner = retryFailedPaymentId("acme", said);
      const failing = { step: "payAgain", owner, input, attempt: 8 } as const;
      await expect(tries(world, { ...failing, context: withoutProfile(world) })).rejects.toThrow(
        /no profile/,
      );
    }
    const [notice, ...others] = await told(world);
    expect(others).toEqual([]);
    expect(notice?.subject).toBe("payAgain of a workflow that the store doesn't know has failed");
    expect(JSON.stringify(notice)).not.toMatch(/CALL|555 0100|MALLORY/);
  });

  test("an activity takes no input but its own workflow's", async ({ world }) => {
    const { runId } = await world.plannedRun([{}]);
    for (const owner of ["mallory", `${runId}/r2`, ""]) {
      const foreign = tries(world, { step: "payBills", owner, input: { runId }, attempt: 9 });
      await expect(foreign).rejects.toMatchObject({ type: "ForeignInput", nonRetryable: true });
    }
    expect(await told(world)).toEqual([]);
  });

  test("a step that can't read a row notifies operators without reading that row", async ({
    world,
  }) => {
    const { runId } = await world.plannedRun([{}]);
    await world.store.db
      .updateTable("runs")
      .set({ policy: "{ no JSON" })
      .where("run_id", "=", runId)
      .execute();
    for (const step of ["reviewRun", "planRun", "reserveMoney", "payBills"] as const) {
      const input = { runId, lane: 1 };
      await expect(tries(world, { step, owner: runId, input, attempt: 8 })).rejects.toThrow(/JSON/);
    }
    expect(await told(world)).toHaveLength(4);
  });

  test("if each try kills its worker, the next try notifies operators before it begins", async ({
    world,
  }) => {
    const { runId } = await world.plannedRun([{}]);
    await tries(world, { step: "reviewRun", owner: runId, input: { runId }, attempt: 8 });
    expect(await told(world)).toEqual([]);
    await tries(world, { step: "reviewRun", owner: runId, input: { runId }, attempt: 9 });
    expect(await told(world)).toMatchObject([{ text: expect.stringContaining("a worker died") }]);
  });
});
