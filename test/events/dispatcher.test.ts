import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MASS_QUEUE, TASK_QUEUE } from "../../src/contracts/names.ts";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { type DevServer, startDevServer } from "../gateway/support/dev-server.ts";
import {
  deliver,
  eventBody,
  startTestGateway,
  type TestGateway,
} from "../gateway/support/gateway.ts";
import { noticeLoss } from "../support/lost-store.ts";
import { planLine, seedRun, setLine } from "../gateway/support/rows.ts";
import { until } from "../support/waits.ts";

let folder: string;
let server: DevServer;
let client: Client;
let gateway: TestGateway;
let period = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "payrun-dispatcher-"));
  server = await startDevServer(folder);
  client = new Client({ connection: Connection.lazy({ address: server.address }) });
});
afterAll(async () => {
  await client.connection.close();
  await server.kill();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  gateway = await startTestGateway({ temporalAddress: server.address });
});
afterEach(async () => gateway.stop());

/** Starts a run with its workflow; no worker takes it, so it stays as it was started. */
async function startRun(payableIds: readonly string[]): Promise<string> {
  period += 1;
  const { runId } = await seedRun(gateway.store, {
    period: `2026-01-${String(period).padStart(2, "0")}`,
    lines: payableIds.map((payableId) => planLine(payableId, { contactId: "con_shared" })),
  });
  await client.workflow.start("payRun", {
    workflowId: runId,
    taskQueue: TASK_QUEUE,
    args: [{ runId }],
  });
  return runId;
}

async function signals(workflowId: string): Promise<number> {
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  return (history.events ?? []).filter(
    (event) => event.workflowExecutionSignaledEventAttributes?.signalName === "eventsArrived",
  ).length;
}

async function undispatched(): Promise<number> {
  const row = await gateway.store.db
    .selectFrom("inbox")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("dispatched_at_ms", "is", null)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

async function looks(runId: string): Promise<string[]> {
  const rows = await gateway.store.db
    .selectFrom("run_lines")
    .select("payable_id")
    .where("run_id", "=", runId)
    .where("look", "=", 1)
    .orderBy("payable_id")
    .execute();
  return rows.map((row) => row.payable_id);
}

async function send(objectId: string, type = "payable.paid", object = "payable"): Promise<void> {
  const answer = await deliver(gateway.url, eventBody({ objectId, type, object }));
  expect(answer.status).toBe(200);
}

describe("the dispatcher", () => {
  test("events flag their lines and signal the run, with fewer signals than events", async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `many_${index}`);
    const runId = await startRun([...ids, "quiet"]);
    await Promise.all(ids.map((payableId) => send(payableId)));
    await until(undispatched, (count) => count === 0);
    expect(await looks(runId)).toEqual(ids.toSorted());
    const told = await signals(runId);
    expect(told).toBeGreaterThanOrEqual(1);
    expect(told).toBeLessThan(ids.length);
  });

  test("a contact's event signals the runs with lines of that contact", async () => {
    const runId = await startRun(["of_contact"]);
    await send("con_shared", "contact.updated", "contact");
    await until(
      () => signals(runId),
      (count) => count > 0,
    );
    expect(await looks(runId)).toEqual(["of_contact"]);
  });

  test("events without a subscriber are marked without a signal", async () => {
    await send("unsubscribed");
    await send("con_unknown", "contact.updated", "contact");
    await send("bank_1", "bank_account.verified", "bank_account");
    const left = await until(undispatched, (count) => count === 0);
    expect(left).toBe(0);
    const metrics = await gateway.call("GET", "/metrics", await gateway.token("v", ["viewer"]));
    expect(metrics.text).not.toContain("payrun_dispatched_signals_total{");
  });

  test.each(["payable.payment.failed", "payable.payment.reversed"])(
    "a bill whose run is over gets a retry after %s",
    async (type) => {
      const payableId = `over_${type.split(".").at(-1)}`;
      const runId = await startRun([payableId]);
      await client.workflow.getHandle(runId).terminate("over");
      await send(payableId, type);
      await until(undispatched, (count) => count === 0);
      const owner = retryFailedPaymentId("acme", payableId);
      const description = await client.workflow.getHandle(owner).describe();
      expect(description.type).toBe("retryFailedPayment");
      expect(description.taskQueue).toBe(MASS_QUEUE.retries);
      expect(await signals(owner)).toBe(1);
    },
  );

  test("a bill that was paid here gets a retry, however long ago its subscription ended", async () => {
    const runId = await startRun(["long_ago", "never_sent"]);
    await client.workflow.getHandle(runId).terminate("over");
    await setLine(gateway.store, runId, "long_ago", { state: "settled", attempts: 1 });
    await gateway.store.db.deleteFrom("subscriptions").execute();
    await send("never_sent", "payable.payment.reversed");
    await send("long_ago", "payable.payment.reversed");
    await until(undispatched, (count) => count === 0);
    const ownerOf = (id: string) => client.workflow.getHandle(retryFailedPaymentId("acme", id));
    expect((await ownerOf("long_ago").describe()).type).toBe("retryFailedPayment");
    await expect(ownerOf("never_sent").describe()).rejects.toThrow(/not found/i);
  });

  test("after a loss, an unknown bill with a returned payment gets a retry", async () => {
    await noticeLoss(gateway.store);
    // The same if a run is subscribed to the bill but has not paid it.
    await startRun(["subscribed"]);
    for (const payableId of ["forgotten", "subscribed"]) {
      await send(payableId, "payable.payment.reversed");
      await until(undispatched, (count) => count === 0);
      const owner = client.workflow.getHandle(retryFailedPaymentId("acme", payableId));
      expect((await owner.describe()).type).toBe("retryFailedPayment");
    }
  });

  test("other events of a run that is over are only marked", async () => {
    const runId = await startRun(["over_paid"]);
    await client.workflow.getHandle(runId).terminate("over");
    await send("over_paid", "payable.paid");
    await until(undispatched, (count) => count === 0);
    const owner = client.workflow.getHandle(retryFailedPaymentId("acme", "over_paid"));
    await expect(owner.describe()).rejects.toThrow(/not found/i);
  });

  test("webhooks are accepted while Temporal is down, and signaled once it is back", async () => {
    const runId = await startRun(["down_1", "down_2", "down_3"]);
    await server.kill();
    await send("down_1");
    await send("down_2", "payable.payment.failed");
    expect(await undispatched()).toBe(2);
    const ready = await gateway.call("GET", "/ready", null);
    expect(ready.status).toBe(200);
    expect(ready.json).toMatchObject({ store: "ok", temporal: "unreachable" });
    expect((await gateway.call("GET", "/health", null)).status).toBe(200);
    // Every try fails meanwhile, and nothing is marked.
    await until(
      async () => gateway.logged.join("\n"),
      (log) => log.includes("trying again"),
    );
    await send("down_3");
    expect(await undispatched()).toBe(3);
    await server.start();
    await until(undispatched, (count) => count === 0);
    expect(await signals(runId)).toBeGreaterThanOrEqual(1);
    expect(await looks(runId)).toEqual(["down_1", "down_2", "down_3"]);
  });

  test("operators are notified of events that can't be dispatched for minutes", async () => {
    const leap = { ms: 0 };
    const other = await startTestGateway({ nowMs: () => Date.now() + leap.ms });
    try {
      await other.store.db.schema.dropTable("subscriptions").execute();
      const answer = await deliver(other.url, eventBody({ objectId: "poison" }));
      expect(answer.status).toBe(200);
      await until(
        async () => other.logged.join("\n"),
        (log) => log.includes("Signalling workflows about the service's events has failed"),
      );
      leap.ms = 4 * 60_000;
      const told = () => listNotices(other.store.db, { kind: "step-failed", limit: 5 });
      const [notice] = await until(told, (notices) => notices.length > 0);
      expect(notice).toMatchObject({ businessId: "biz_acme", roles: ["operator"] });
      expect(notice?.text).toContain("no such table: subscriptions");
    } finally {
      await other.stop();
    }
  });

  test("after a restart a gateway dispatches events that an earlier gateway only accepted", async () => {
    const runId = await startRun(["restart_1"]);
    const { folder: kept } = gateway;
    const offline = await startTestGateway({ folder: kept });
    await deliver(offline.url, eventBody({ objectId: "restart_1" }));
    await offline.stop();
    await until(undispatched, (count) => count === 0);
    expect(await signals(runId)).toBe(1);
  });
});
