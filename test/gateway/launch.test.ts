import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@temporalio/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TASK_QUEUE } from "../../src/contracts/names.ts";
import { lazyConnection } from "../../src/temporal/connection.ts";
import { DryPlanBody, RunStatusBody } from "../../src/gateway/http/run-schemas.ts";
import type { DryPlan } from "../../src/contracts/pay-run.ts";
import { cancelOfPayments } from "../../src/domain/cancellations/policy.ts";
import {
  cancellationsLike,
  getCancellation,
  insertCancellation,
} from "../../src/store/cancellations.ts";
import { saveDryPlan } from "../../src/store/dry-plans.ts";
import { getRetry } from "../../src/store/retries.ts";
import { getRun, listRuns, setRunPhase } from "../../src/store/runs.ts";
import { type DevServer, startDevServer } from "./support/dev-server.ts";
import { eventually, startTestGateway, type Answer, type TestGateway } from "./support/gateway.ts";
import { skippedLine } from "../store/fixtures.ts";
import { approveLines, planLine, seedRun, setLine } from "./support/rows.ts";

/** Temporal's numbers of the commands that end a workflow. */
const COMPLETE_WORKFLOW = 4;
const FAIL_WORKFLOW = 5;

let folder: string;
let server: DevServer;
let client: Client;
let gateway: TestGateway;
let launcher: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "payrun-launch-"));
  server = await startDevServer(folder);
  client = new Client({ connection: lazyConnection({ address: server.address }) });
});
afterAll(async () => {
  await client.connection.close();
  await server.kill();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  gateway = await startTestGateway({ temporalAddress: server.address, planTimeoutMs: 1_000 });
  const admin = await gateway.token("ada", ["admin"]);
  launcher = await gateway.token("lou", ["launcher"]);
  const text = "kind: pay-run\nselect: { due: all }\n";
  const applied = await gateway.call("POST", "/v1/playbooks", admin, { name: "weekly", text });
  expect(applied.status).toBe(200);
});
afterEach(async () => gateway.stop());

async function launch(body: object): Promise<Answer> {
  return gateway.call("POST", "/v1/runs", launcher, { playbook: "weekly", ...body });
}

describe("a launch of what withholds bills", () => {
  async function store(name: string, choose: string): Promise<Answer> {
    const text = `kind: cancel-scheduled\nchoose: { ${choose} }\n`;
    const admin = await gateway.token(`ada-${name}`, ["admin"]);
    return gateway.call("POST", "/v1/playbooks", admin, { name, text });
  }

  test("from runs of a playbook that nobody has stored says so, as storing it does", async () => {
    const stored = await store("typo", "run: weekli");
    expect(stored.json["note"]).toMatch(/“weekli”, and no pay-run playbook of that name/);
    const answer = await launch({ playbook: "typo" });
    expect(answer).toMatchObject({ status: 422, json: { error: "unknown_playbook" } });
    expect((await store("right", "run: weekly")).json["note"]).toBeUndefined();
    expect((await launch({ playbook: "right" })).json["error"]).toBe("no_open_run");
  });

  test("takes what withholds from the run's next revision for another request", async () => {
    await launch({ period: "2026-02-05" });
    await store("hold-all", "run: weekly");
    const beginning = "cancel-scheduled-payments/acme/hold-all/weekly/2026-02-05";
    const policy = { ...cancelOfPayments([]), name: "hold-all" };
    const { db } = gateway.store;
    for (const workflowId of [`${beginning}/r2`, `${beginning}/rest`]) {
      await insertCancellation(db, {
        ...{ workflowId, businessId: "biz_acme", business: "acme", playbook: "hold-all" },
        ...{ policy, runId: null, reason: "another", requestedBy: "lou", nowMs: 1 },
      });
    }
    expect((await launch({ playbook: "hold-all" })).json["id"]).toBe(beginning);
    const like = await cancellationsLike(db, beginning);
    expect(like.map(({ workflowId }) => workflowId)).toEqual([`${beginning}/r2`, beginning]);
  });

  test("without a run puts it into force on every run that is under way", async () => {
    for (const period of ["2026-02-05", "2026-02-12"]) await launch({ period });
    await store("every", "vendor: con_1");
    const answer = await launch({ playbook: "every" });
    expect(answer.json["id"]).toBe("cancel-scheduled-payments/acme/every/weekly/2026-02-12");
    const first = "cancel-scheduled-payments/acme/every/weekly/2026-02-05";
    expect(await getCancellation(gateway.store.db, first)).toMatchObject({ endedAtMs: null });
  });
});

describe("a launch", () => {
  test("makes the run and starts its workflow, so that a person sees what it is", async () => {
    const answer = await launch({ period: "2026-02-05", inputs: { note: "first" } });
    expect(answer.status).toBe(201);
    const status = RunStatusBody.parse(answer.json);
    expect(status).toMatchObject({
      id: "pay-run/acme/weekly/2026-02-05",
      phase: "planning",
      launchedBy: "lou",
      payments: [],
    });
    const described = await client.workflow.getHandle(status.id).describe();
    expect(described).toMatchObject({ type: "payRun", taskQueue: TASK_QUEUE });
    expect(described.status.name).toBe("RUNNING");
    expect(described.searchAttributes).toMatchObject({
      PayrunBusiness: ["acme"],
      PayrunPlaybook: ["weekly"],
      PayrunPhase: ["planning"],
    });
    expect(await described.staticSummary()).toBe("weekly for acme, 2026-02-05");
    expect(await described.staticDetails()).toContain("lou");
    expect((await getRun(gateway.store.db, status.id))?.inputs).toEqual({ note: "first" });
  });

  test("of the same period joins, however many launch at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => launch({ period: "2026-02-12" })),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(4);
    expect(new Set(answers.map((answer) => answer.json["id"])).size).toBe(1);
    const runs = await listRuns(gateway.store.db, { limit: 10 });
    expect(runs).toHaveLength(1);
  });

  test("starts the workflow again where it had ended without the run having ended", async () => {
    const first = await launch({ period: "2026-02-19" });
    const id = String(first.json["id"]);
    await client.workflow.getHandle(id).terminate("lost");
    const second = await launch({ period: "2026-02-19" });
    expect(second.status).toBe(200);
    const described = await client.workflow.getHandle(id).describe();
    expect(described.status.name).toBe("RUNNING");
  });

  test.each(["rejected", "expired", "cancelled", "failed"] as const)(
    "makes the next revision after %s",
    async (phase) => {
      const period = `2026-03-${10 + phase.length}`;
      const first = await launch({ period });
      const endedAtMs = Date.now();
      await setRunPhase(gateway.store.db, String(first.json["id"]), { phase, endedAtMs });
      const second = await launch({ period });
      expect(second.status).toBe(201);
      expect(second.json["id"]).toBe(`pay-run/acme/weekly/${period}/r2`);
    },
  );

  test("joins a completed run: a period is never paid twice", async () => {
    const first = await launch({ period: "2026-04-02" });
    const id = String(first.json["id"]);
    await setRunPhase(gateway.store.db, id, { phase: "completed", endedAtMs: Date.now() });
    const second = await launch({ period: "2026-04-02" });
    expect(second.status).toBe(200);
    expect(second.json).toMatchObject({ id, phase: "completed" });
  });

  test("without a period takes today in New York", async () => {
    const today = (): string =>
      new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York" }).format();
    const before = today();
    const answer = await launch({});
    expect([before, today()]).toContain(answer.json["period"]);
  });

  test("of an unknown playbook is 404 and leaves nothing", async () => {
    const answer = await launch({ playbook: "monthly" });
    expect(answer.status).toBe(404);
    expect(answer.json["message"]).toContain("payrun apply");
    expect(await listRuns(gateway.store.db, { limit: 10 })).toEqual([]);
  });
});

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

  /** Does a worker's part for the next `planDry` workflow, with a command of the test's own. */
  async function work(end: (dryPlanId: string) => Promise<object>): Promise<void> {
    const { workflowService } = client;
    const queue = { namespace: "default", taskQueue: { name: TASK_QUEUE }, identity: "test" };
    for (;;) {
      const task = await client.withDeadline(Date.now() + 50_000, () =>
        workflowService.pollWorkflowTaskQueue(queue),
      );
      if (task.workflowType?.name !== "planDry") continue;
      const command = await end(task.workflowExecution?.workflowId ?? "");
      await workflowService.respondWorkflowTaskCompleted({
        namespace: "default",
        taskToken: task.taskToken,
        commands: [command],
      });
      return;
    }
  }

  async function planned(page: { readonly pageSize?: number } = {}): Promise<Answer> {
    const body = { playbook: "weekly", period: "2026-07-02", ...page };
    return patient.call("POST", "/v1/plans", launcher, body);
  }

  let patient: TestGateway;
  beforeEach(async () => {
    const { folder: kept } = gateway;
    patient = await startTestGateway({ folder: kept, temporalAddress: server.address });
  });
  afterEach(async () => patient.stop());

  test("is the planner's, waited for and read from the store; no run is made", async () => {
    const worked = work(async (dryPlanId) => {
      await saveDryPlan(gateway.store.db, { dryPlanId, plan, nowMs: Date.now() });
      return { commandType: COMPLETE_WORKFLOW, completeWorkflowExecutionCommandAttributes: {} };
    });
    const [answer] = await Promise.all([planned(), worked]);
    expect(answer.status).toBe(200);
    expect(DryPlanBody.parse(answer.json)).toMatchObject({ period: "2026-07-02", lineCount: 1 });
    expect(await listRuns(gateway.store.db, { limit: 10 })).toEqual([]);
  });

  test("comes by page where it is large, and each bill on one of them", async () => {
    const ids = Array.from({ length: 5 }, (_, index) => `p${index}`);
    const large = {
      ...plan,
      lineCount: 3,
      skippedCount: 2,
      lines: ids.slice(0, 3).map((id) => planLine(id)),
      skipped: ids.slice(3).map((id) => skippedLine(id)),
    };
    const worked = work(async (dryPlanId) => {
      await saveDryPlan(gateway.store.db, { dryPlanId, plan: large, nowMs: Date.now() });
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
      const next = await gateway.call("GET", `${path}?page=${page}&pageSize=2`, launcher);
      pages.push(DryPlanBody.parse(next.json));
    }
    expect(pages.map(({ nextPage }) => nextPage)).toEqual([2, 3, null]);
    expect(pages.map(({ lines }) => lines.length)).toEqual([2, 1, 0]);
    expect(pages.map(({ skipped }) => skipped.length)).toEqual([0, 1, 1]);
    expect(pages.flatMap(({ payments }) => payments.map((bill) => bill.payableId))).toEqual(ids);
    const gone = await gateway.call("GET", "/v1/plans/plan-dry%2Fnone", launcher);
    expect(gone.status).toBe(404);
    const wrong = await gateway.call("GET", `${path}?pageSize=10001`, launcher);
    expect(wrong.status).toBe(400);
  });

  test("that the planner refuses is refused with its reason", async () => {
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

describe("with nobody to do the work", () => {
  test("a dry plan gives up in time and says that a worker is missing", async () => {
    const answer = await gateway.call("POST", "/v1/plans", launcher, { playbook: "weekly" });
    expect(answer.status).toBe(504);
    expect(answer.json["message"]).toContain("payrun worker");
  });
});

describe("with a namespace that isn't there", () => {
  test("a launch says which, and the gateway is not ready", async () => {
    const { folder: kept } = gateway;
    const lost = await startTestGateway({
      folder: kept,
      temporalAddress: server.address,
      namespace: "nowhere",
    });
    try {
      const body = { playbook: "weekly", period: "2026-05-14" };
      const answer = await lost.call("POST", "/v1/runs", launcher, body);
      expect(answer.status).toBe(503);
      expect(answer.json["error"]).toBe("temporal_namespace_missing");
      expect(answer.json["message"]).toContain("nowhere");
      expect((await lost.call("GET", "/ready", null)).status).toBe(503);
      expect((await gateway.call("GET", "/ready", null)).status).toBe(200);
    } finally {
      await lost.stop();
    }
  });
});

describe("with Temporal down", () => {
  test("a launch says so, keeps its row, and the next one goes on with it", async () => {
    const { folder: kept } = gateway;
    const offline = await startTestGateway({ folder: kept });
    try {
      const body = { playbook: "weekly", period: "2026-05-07" };
      const failed = await offline.call("POST", "/v1/runs", launcher, body);
      expect(failed.status).toBe(503);
      expect(failed.json["error"]).toBe("temporal_unreachable");
    } finally {
      await offline.stop();
    }
    const answer = await launch({ period: "2026-05-07" });
    expect(answer.status).toBe(200);
    const handle = client.workflow.getHandle("pay-run/acme/weekly/2026-05-07");
    expect((await handle.describe()).status.name).toBe("RUNNING");
  });
});

describe("what people do", () => {
  async function signals(workflowId: string): Promise<number> {
    const history = await client.workflow.getHandle(workflowId).fetchHistory();
    return (history.events ?? []).filter(
      (event) => event.workflowExecutionSignaledEventAttributes?.signalName === "eventsArrived",
    ).length;
  }

  test("reaches the run at once: a decision, a hold, its release, a cancel", async () => {
    const run = await seedRun(gateway.store, { period: "2026-06-04", lines: [planLine("p1")] });
    await client.workflow.start("payRun", {
      workflowId: run.runId,
      taskQueue: TASK_QUEUE,
      args: [{ runId: run.runId }],
    });
    const told = (times: number): Promise<number> =>
      eventually(
        () => signals(run.runId),
        (count) => count === times,
      );
    const path = `/v1/runs/${encodeURIComponent(run.runId)}`;
    const cora = await gateway.token("cora", ["controller"]);
    const operator = await gateway.token("oli", ["operator"]);
    const body = { decision: "approve", planHash: run.planHash };
    await gateway.call("POST", `${path}/decisions`, cora, body);
    expect(await told(1)).toBe(1);
    const target = { payableId: "p1", reason: "wait" };
    const hold = await gateway.call("POST", "/v1/holds", operator, target);
    expect(await told(2)).toBe(2);
    await gateway.call("DELETE", `/v1/holds/${String(hold.json["id"])}`, operator);
    expect(await told(3)).toBe(3);
    await gateway.call("POST", `${path}/cancel`, operator);
    expect(await told(4)).toBe(4);
  });

  test("starts the owner of a parked bill that is to be retried", async () => {
    const operator = await gateway.token("oli", ["operator"]);
    const run = await seedRun(gateway.store, {
      period: "2026-06-11",
      lines: [planLine("p_retry")],
    });
    await approveLines(gateway.store, run, ["p_retry"]);
    await setLine(gateway.store, run.runId, "p_retry", { state: "parked", reasonCode: "R02" });
    const body = { action: "retry", reason: "new bank details" };
    const answer = await gateway.call("POST", "/v1/payables/p_retry/resolution", operator, body);
    expect(answer.status).toBe(200);
    expect(answer.json["workflowId"]).toBe("retry-failed-payment/acme/p_retry");
    const handle = client.workflow.getHandle("retry-failed-payment/acme/p_retry");
    expect((await handle.describe()).type).toBe("retryFailedPayment");
    expect(await getRetry(gateway.store.db, "biz_acme", "p_retry")).toMatchObject({
      requested: "retry",
    });
  });
});
