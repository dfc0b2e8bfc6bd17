import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TASK_QUEUE } from "../../../src/contracts/names.ts";
import type { DryPlan } from "../../../src/contracts/pay-run.ts";
import { DryPlanBody } from "../../../src/api/runs.ts";
import { saveDryPlan } from "../../../src/store/plans/dry-plans.ts";
import { listRuns } from "../../../src/store/runs/runs.ts";
import { skippedLine } from "../../store/fixtures.ts";
import { type Answer, startTestGateway, type TestGateway } from "../../gateway/support/gateway.ts";
import { useLaunches } from "../../gateway/support/launches.ts";
import { planLine } from "../../gateway/support/rows.ts";

/** Temporal's numbers for the commands that end a workflow. */
const COMPLETE_WORKFLOW = 4;
const FAIL_WORKFLOW = 5;

const scene = useLaunches();

describe("a dry plan", () => {
  const plan: DryPlan = {
    business: "acme",
    playbook: "weekly",
    period: "2026-07-02",
    planHash: "hash",
    lineCount: 1,
    totalCents: 10_000,
    flaggedCount: 0,
    skippedCount: 0,
    skippedByCode: {},
    decideBy: null,
    cash: [],
    availableCents: null,
    reservedCents: 0,
    source: null,
    lines: [planLine("p1")],
    skipped: [],
  };

  /**
   * Completes the next `planDry` workflow as a worker would, with a command that the test chooses.
   */
  async function work(end: (dryPlanId: string) => Promise<object>): Promise<void> {
    const { workflowService } = scene.on.client;
    const queue = {
      namespace: scene.on.namespace,
      taskQueue: { name: TASK_QUEUE },
      identity: "test",
    };
    for (;;) {
      const task = await scene.on.client.withDeadline(Date.now() + 50_000, () =>
        workflowService.pollWorkflowTaskQueue(queue),
      );
      if (task.workflowType?.name !== "planDry") continue;
      const command = await end(task.workflowExecution?.workflowId ?? "");
      await workflowService.respondWorkflowTaskCompleted({
        namespace: scene.on.namespace,
        taskToken: task.taskToken,
        commands: [command],
      });
      return;
    }
  }

  async function planned(page: { readonly pageSize?: number } = {}): Promise<Answer> {
    const body = { playbook: "weekly", period: "2026-07-02", ...page };
    return patient.call("POST", "/v1/plans", scene.launcher, body);
  }

  let patient: TestGateway;
  beforeEach(async () => {
    const { folder: kept } = scene.on.gateway;
    const { address: temporalAddress, namespace } = scene.on;
    patient = await startTestGateway({ folder: kept, temporalAddress, namespace });
  });
  afterEach(async () => patient.stop());

  test("a dry plan is made by a worker and read from the store, and makes no run", async () => {
    const worked = work(async (dryPlanId) => {
      await saveDryPlan(scene.on.gateway.store.db, { dryPlanId, plan, nowMs: Date.now() });
      return { commandType: COMPLETE_WORKFLOW, completeWorkflowExecutionCommandAttributes: {} };
    });
    const [answer] = await Promise.all([planned(), worked]);
    expect(answer.status).toBe(200);
    expect(DryPlanBody.parse(answer.json)).toMatchObject({ period: "2026-07-02", lineCount: 1 });
    expect(await listRuns(scene.on.gateway.store.db, { limit: 10 })).toEqual([]);
  });

  test("a large dry plan is returned in pages, with each bill on exactly one of them", async () => {
    const ids = Array.from({ length: 5 }, (_, index) => `p${index}`);
    const large = {
      ...plan,
      lineCount: 3,
      skippedCount: 2,
      lines: ids.slice(0, 3).map((id) => planLine(id)),
      skipped: ids.slice(3).map((id) => skippedLine(id)),
    };
    const worked = work(async (dryPlanId) => {
      await saveDryPlan(scene.on.gateway.store.db, { dryPlanId, plan: large, nowMs: Date.now() });
      return { commandType: COMPLETE_WORKFLOW, completeWorkflowExecutionCommandAttributes: {} };
    });
    const [answer] = await Promise.all([planned({ pageSize: 2 }), worked]);
    const pages = [DryPlanBody.parse(answer.json)];
    expect(pages[0]).toMatchObject({
      totalCount: 5,
      page: 1,
      nextPage: 2,
      counts: { planned: 3, skipped: 2 },
    });
    const path = `/v1/plans/${encodeURIComponent(pages[0]?.planId ?? "")}`;
    for (const page of [2, 3]) {
      const next = await scene.on.gateway.call(
        "GET",
        `${path}?page=${page}&pageSize=2`,
        scene.launcher,
      );
      pages.push(DryPlanBody.parse(next.json));
    }
    expect(pages.map(({ nextPage }) => nextPage)).toEqual([2, 3, null]);
    expect(pages.map(({ lines }) => lines.length)).toEqual([2, 1, 0]);
    expect(pages.map(({ skipped }) => skipped.length)).toEqual([0, 1, 1]);
    expect(pages.flatMap(({ payments }) => payments.map((bill) => bill.payableId))).toEqual(ids);
    const gone = await scene.on.gateway.call("GET", "/v1/plans/plan-dry%2Fnone", scene.launcher);
    expect(gone.status).toBe(404);
    const wrong = await scene.on.gateway.call("GET", `${path}?pageSize=10001`, scene.launcher);
    expect(wrong.status).toBe(400);
  });

  test("a dry plan that the planner refuses is refused with the planner's reason", async () => {
    const worked = work(async () => ({
      commandType: FAIL_WORKFLOW,
      failWorkflowExecutionCommandAttributes: {
        failure: {
          message: "the ACH authorization is missing",
          applicationFailureInfo: { type: "PlanRefused", nonRetryable: true },
        },
      },
    }));
    const [answer] = await Promise.all([planned(), worked]);
    expect(answer.status).toBe(422);
    expect(answer.json).toMatchObject({
      error: "plan_failed",
      message: "the ACH authorization is missing",
    });
  });
});

describe("without a worker", () => {
  test("a dry plan without a worker times out with an error that says so", async () => {
    const answer = await scene.on.gateway.call("POST", "/v1/plans", scene.launcher, {
      playbook: "weekly",
    });
    expect(answer.status).toBe(504);
    expect(answer.json["message"]).toContain("payrun worker");
  });
});
