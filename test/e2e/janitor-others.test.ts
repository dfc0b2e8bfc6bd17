import { WorkflowNotFoundError } from "@temporalio/client";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { fundingIncidentId } from "../../src/contracts/workflow-kinds.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { applyIncidents, bouncedScene, decideIncident, settledAgain } from "../support/bounced.ts";
import {
  askToCancel,
  cancelKeys,
  hasEnded,
  heldByProvider,
  untilCancellation,
} from "../support/cancellations.ts";
import { isLong } from "../support/long.ts";
import {
  DATA,
  giveInTurn,
  kybWrites,
  onboard,
  ONBOARDING_ID,
  provide,
  untilOnboarding,
  untilWaitsIn,
} from "../support/onboarding.ts";
import { startPayrun, type TestPayrun } from "../support/payrun.ts";
import { expectBank, paymentsOf, scenePlaybook, standing } from "../support/scene.ts";
import { stacks } from "../support/stack.ts";

/** Milliseconds of real time between passes in this file. */
const PASS_EVERY_MS = 400;

/**
 * Deletes a workflow with its history from Temporal, as a lost namespace does, while no worker
 * runs.
 */
async function forget(payrun: TestPayrun, workflowId: string): Promise<void> {
  await payrun.killWorkers();
  const { temporal, namespace } = payrun;
  await temporal.workflowService.deleteWorkflowExecution({
    namespace,
    workflowExecution: { workflowId },
  });
  const isGone = (): Promise<boolean> =>
    runIdOf(payrun, workflowId).then(
      () => false,
      (error: unknown) => error instanceof WorkflowNotFoundError,
    );
  await expect.poll(isGone).toBe(true);
  await payrun.startWorker();
}

/** Waits until a workflow of this id runs that is not the earlier execution. */
async function untilFollowed(payrun: TestPayrun, workflowId: string, was: string): Promise<void> {
  const running = async (): Promise<boolean> => {
    const handle = payrun.temporal.workflow.getHandle(workflowId);
    const now = await handle.describe().catch(() => undefined);
    return now?.status.name === "RUNNING" && now.runId !== was;
  };
  await expect.poll(running, { interval: 200 }).toBe(true);
}

async function runIdOf({ temporal }: TestPayrun, workflowId: string): Promise<string> {
  return (await temporal.workflow.getHandle(workflowId).describe()).runId;
}

async function actionsOn(payrun: TestPayrun, subject: string): Promise<string[]> {
  const { businessId } = payrun.sandbox.business;
  const trail = await listAudit(payrun.store.db, { businessId, subject });
  return trail.map(({ action }) => action);
}

describe("what has lost its workflow", () => {
  let payrun: TestPayrun;

  beforeAll(async () => {
    payrun = await startPayrun({ janitorEveryMs: PASS_EVERY_MS });
  });
  afterEach(async () => {
    await payrun.recover();
  });
  afterAll(async () => {
    await payrun?.stop();
  });

  test("a cancellation terminated in Temporal during its refund is followed to its end without a new send", async () => {
    const { bill, paymentId } = await heldByProvider(payrun, 101_00);
    const id = await askToCancel(payrun, [paymentId]);
    await untilCancellation(payrun, id, "following", ({ phase }) => phase === "following");
    const was = await runIdOf(payrun, id);
    await payrun.temporal.workflow.getHandle(id).terminate("by mistake");
    await untilFollowed(payrun, id, was);
    await payrun.sandbox.control.advance("P14D");
    const done = await untilCancellation(payrun, id, "ended", hasEnded);
    expect(done.counts).toEqual({ refunded: 1 });
    expect(await cancelKeys(payrun, paymentId)).toHaveLength(1);
    expect(await actionsOn(payrun, id)).toContain("cancellation.follower-started");
    const { body } = await payrun.call<{ items: { value: string }[] }>(
      "operator",
      "GET",
      "/v1/holds",
    );
    expect(body.items.map(({ value }) => value)).toEqual([bill.id]);
    await expectBank(payrun, [[bill, 0]]);
  });

  test("a lost schedule is made again as people left it, and a deleted one is not", async () => {
    const at = 'schedule: { every: month, on: 1, at: "03:00" }';
    const names = ["kept-schedule", "paused-schedule", "deleted-schedule"];
    for (const name of names) await payrun.apply(name, scenePlaybook(name, { more: [at] }));
    const change = (method: string, path: string, body?: object) =>
      payrun.call("admin", method, `/v1/schedules/${path}`, body);
    const pause = { note: "books are being closed" };
    expect((await change("POST", "paused-schedule/pause", pause)).status).toBe(200);
    expect((await change("DELETE", "deleted-schedule")).status).toBe(200);
    const handleOf = (name: string) =>
      payrun.temporal.schedule.getHandle(`scheduled-pay-run/default/${name}`);
    for (const name of names.slice(0, 2)) await handleOf(name).delete();
    // Old enough that no gateway is about to make them.
    await payrun.store.db
      .updateTable("playbooks")
      .set({ created_at_ms: Date.now() - 60_000 })
      .where("name", "in", names)
      .execute();
    const stand = async (): Promise<(string | undefined)[]> => {
      const { body } = await payrun.call<{ items: { playbook: string; state: string }[] }>(
        "admin",
        "GET",
        "/v1/schedules",
      );
      return names.map((name) => body.items.find(({ playbook }) => playbook === name)?.state);
    };
    await expect.poll(stand).toEqual(["active", "paused", "missing"]);
    const { state } = await handleOf("paused-schedule").describe();
    expect(state.note).toBe("admin: books are being closed");
    // After it is applied again it is wanted again, and restored like the others.
    const text = scenePlaybook("deleted-schedule", { more: [at] });
    await payrun.apply("deleted-schedule", text);
    await handleOf("deleted-schedule").delete();
    await expect.poll(stand).toEqual(["active", "paused", "active"]);
    for (const name of names)
      await handleOf(name)
        .delete()
        .catch(() => undefined);
  });

  test("an incident that is terminated in Temporal or lost by it keeps its hold and its one decision", async () => {
    await applyIncidents(payrun);
    const scene = await bouncedScene(payrun, "lost-incident", [201_00, 202_00]);
    const id = fundingIncidentId("default", "balance");
    const first = await runIdOf(payrun, id);
    await payrun.temporal.workflow.getHandle(id).terminate("seen");
    await untilFollowed(payrun, id, first);
    const losses = ["terminated"];
    if (isLong) {
      const second = await runIdOf(payrun, id);
      await forget(payrun, id);
      await untilFollowed(payrun, id, second);
      losses.push("missing");
    }
    const { businessId } = payrun.sandbox.business;
    const trail = await listAudit(payrun.store.db, { businessId, subject: "balance" });
    const started = trail.filter(({ action }) => action === "incident.follower-started");
    expect(started.map(({ details }) => details["workflow"])).toEqual(losses);
    for (const bill of scene.made) expect(await paymentsOf(payrun, bill)).toHaveLength(1);
    expect((await decideIncident(payrun, "balance", "released")).status).toBe(200);
    const workflow = payrun.temporal.workflow.getHandle(id);
    expect(await workflow.result()).toBe("released by controller");
    expect(standing(await settledAgain(payrun, scene))).toEqual({ settled: 2 });
    await expectBank(
      payrun,
      scene.made.map((bill) => [bill, bill.amountCents]),
    );
  });
});

describe("an onboarding", () => {
  const start = stacks();

  test("a lost onboarding continues from the service's state; a terminated one stays ended, its data deleted", async () => {
    const payrun = await start({ fixture: "unverified", janitorEveryMs: PASS_EVERY_MS });
    await onboard(payrun);
    await giveInTurn(payrun, "tax");
    await untilWaitsIn(payrun, "signature");
    if (isLong) {
      const was = await runIdOf(payrun, ONBOARDING_ID);
      await forget(payrun, ONBOARDING_ID);
      await untilFollowed(payrun, ONBOARDING_ID, was);
    }
    await giveInTurn(payrun, "signature");
    await untilWaitsIn(payrun, "officers");
    expect((await provide(payrun, "certification", DATA.certification)).status).toBe(202);
    expect(await kybWrites(payrun)).toEqual(["PATCH /tax", "PATCH /tax/signature"]);
    await payrun.temporal.workflow.getHandle(ONBOARDING_ID).terminate("wrong business");
    const ended = await untilOnboarding(payrun, "ended", (status) => status.ended);
    expect(ended.waitingFor).toMatch(/ended in Temporal/);
    expect(await payrun.store.db.selectFrom("vault").selectAll().execute()).toEqual([]);
    expect(await actionsOn(payrun, ONBOARDING_ID)).toContain("onboarding.ended");
  });
});
