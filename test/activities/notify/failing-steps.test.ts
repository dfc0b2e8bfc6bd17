import { MockActivityEnvironment } from "@temporalio/testing";
import { DefaultLogger } from "@temporalio/worker";
import { describe, expect } from "vitest";
import type { ActivityContext } from "../../../activities/shared/context.ts";
import { createActivities } from "../../../activities/index.ts";
import { retryFailedPaymentId, scheduledPayRunId } from "../../../src/contracts/workflow-kinds.ts";
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
  test("a run whose profile is missing notifies operators after eight tries, and its status says so", async ({
    world,
  }) => {
    const { runId } = await world.plannedRun([{}]);
    const context = withoutProfile(world);
    const failing = { step: "reviewRun", owner: runId, input: { runId }, context } as const;
    await expect(tries(world, { ...failing, attempt: 7 })).rejects.toThrow(/no profile/);
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
      "a step that fails again and again: reviewRun: no profile is called “acme”",
    );
    await tries(world, { ...failing, attempt: 9, context: world.context() });
    expect((await world.assess(runId)).waitingFor).toContain("approval");
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
    ["reviewIncident", "funding-incident/acme/balance", { sourceId: "balance" }],
    ["reviewOnboarding", "kyb-onboarding/acme", {}],
    ["payAgain", retryFailedPaymentId("acme", "bill_1"), { payableId: "bill_1" }],
    ["launchRun", `${scheduledPayRunId("acme", "weekly")}-2026-11-26`, { playbook: "weekly" }],
  ] as const)(
    "a failing %s, whose workflow is not a run, notifies operators",
    async ([step, owner, more], { world }) => {
      await world.plannedRun([{}]);
      await storePlaybook(world.store, { name: "weekly", text: "kind: pay-run\n" });
      await world.store.db.updateTable("playbooks").set({ compiled: "{ no JSON" }).execute();
      const input = { business: "acme", ...more };
      const failing = { step, owner, input, context: withoutProfile(world), attempt: 8 };
      await expect(tries(world, failing)).rejects.toThrow(/no profile|JSON/);
      expect(await told(world)).toMatchObject([
        { runId: owner, subject: `${step} of ${owner} has failed` },
      ]);
    },
  );

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
