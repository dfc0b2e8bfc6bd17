import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import type { RunStatus } from "../../src/api/runs.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { claimPayables } from "../../src/store/payables/claims.ts";
import { openCancellations } from "../../src/store/cancellations/cancellations.ts";
import { startedBy } from "../../src/store/events/event-starts.ts";
import { listRuns, type Run } from "../../src/store/runs/runs.ts";
import { type DevServer, startDevServer } from "../gateway/support/dev-server.ts";
import { storePlaybook } from "../support/stored-playbook.ts";
import {
  deliver,
  eventBody,
  startTestGateway,
  type TestGateway,
} from "../gateway/support/gateway.ts";
import { askerOf } from "../../src/domain/events/triggers.ts";
import { planLine, seedRun } from "../gateway/support/rows.ts";
import { until } from "../support/waits.ts";

const PAY_NOW = "kind: pay-run\nevents: [payable.created, payable.approved]\n";
const STOP_CHANGED = "kind: cancel-scheduled\nevents: [contact.updated, payable.approval_reset]\n";

let folder: string;
let server: DevServer;
let client: Client;
let gateway: TestGateway;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "payrun-events-"));
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

async function apply(name: string, text: string, nowMs = Date.now()): Promise<void> {
  await storePlaybook(gateway.store, { name, text }, nowMs);
}

interface Sent {
  readonly id?: string;
  readonly createdAt?: string;
}

async function send(type: string, objectId: string, to = gateway.url, sent: Sent = {}) {
  const object = type.split(".")[0] ?? "";
  const createdAt = new Date().toISOString();
  const answer = await deliver(to, eventBody({ type, object, objectId, createdAt, ...sent }));
  expect(answer.status).toBe(200);
}

async function dispatched(): Promise<void> {
  const { db } = gateway.store;
  await until(
    async () => [
      ...(await db
        .selectFrom("inbox")
        .select("event_id")
        .where("dispatched_at_ms", "is", null)
        .execute()),
      ...(await db
        .selectFrom("event_starts")
        .select("event_id")
        .where("state", "in", ["waiting", "recorded"])
        .where("due_at_ms", "<=", Date.now())
        .execute()),
    ],
    (left) => left.length === 0,
  );
}

async function runs(): Promise<Run[]> {
  return listRuns(gateway.store.db, { limit: 100 });
}

/** Returns how often a workflow of this id has been started. */
async function starts(workflowId: string): Promise<number> {
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  return (history.events ?? []).filter((event) => event.workflowExecutionStartedEventAttributes)
    .length;
}

describe("an event without a subscriber", () => {
  test("an event pays its bill off-cycle by the playbook that names it, and the run shows the event", async () => {
    await apply("pay-now", PAY_NOW);
    await send("payable.approved", "bill_1", gateway.url, { id: "evt_first" });
    await dispatched();
    const [run, ...others] = await runs();
    if (run === undefined) throw new Error("no run");
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      playbook: "pay-now",
      launchedBy: "events of pay-now",
      inputs: { offCycle: { payableIds: ["bill_1"], amountCents: null } },
    });
    expect(await starts(run.runId)).toBe(1);
    const viewer = await gateway.token("v", ["viewer"]);
    const path = `/v1/runs/${encodeURIComponent(run.runId)}`;
    const { json } = await gateway.call("GET", path, viewer);
    expect((json as unknown as RunStatus).startedBy).toEqual([
      { eventId: "evt_first", type: "payable.approved", objectId: "bill_1" },
    ]);
    const trail = await listAudit(gateway.store.db, { businessId: "biz_acme", subject: run.runId });
    expect(trail.map(({ action }) => action)).toEqual(["run.launched", "event.started"]);
    expect(trail[1]?.details).toMatchObject({ playbook: "pay-now", revision: 1 });
  });

  test("an event starts nothing if a run has its bill, no playbook names it, or it is too old", async () => {
    await apply("pay-now", PAY_NOW);
    await claimPayables(gateway.store.db, {
      businessId: "biz_acme",
      payableIds: ["claimed"],
      owner: "pay-run/acme/weekly/2026-11-20",
      nowMs: Date.now(),
    });
    await send("payable.approved", "claimed");
    await send("payable.paid", "bill_2");
    await send("payable.renamed", "bill_2");
    await send("payable.approved", "bill_2", gateway.url, { createdAt: "2026-01-05T12:00:00Z" });
    await dispatched();
    expect(await runs()).toEqual([]);
  });

  test("a payment made elsewhere gets a retry if a playbook names the event of its failure", async () => {
    await apply("failures", "kind: retry-failed\nevents: [payable.payment.failed]\n");
    await send("payable.payment.failed", "theirs", gateway.url, { id: "evt_failed" });
    await send("payable.payment.reversed", "returned");
    await dispatched();
    const owner = retryFailedPaymentId("acme", "theirs");
    expect(await starts(owner)).toBe(1);
    expect(await startedBy(gateway.store.db, [owner])).toEqual(
      new Map([
        [owner, [{ eventId: "evt_failed", type: "payable.payment.failed", objectId: "theirs" }]],
      ]),
    );
    await expect(starts(retryFailedPaymentId("acme", "returned"))).rejects.toThrow(/not found/i);
  });

  test("an event starts a playbook only from the revision on that names it", async () => {
    const hour = 3_600_000;
    await apply("pay-now", PAY_NOW, Date.now() - 9 * hour);
    await apply("pay-now", "kind: pay-run\n", Date.now() - 8 * hour);
    const at = (hoursAgo: number) => new Date(Date.now() - hoursAgo * hour).toISOString();
    await send("payable.approved", "while_not", gateway.url, { createdAt: at(7) });
    await dispatched();
    await apply("pay-now", PAY_NOW, Date.now() - 6 * hour);
    await apply("pay-now", `${PAY_NOW}late: next-business-day\n`, Date.now() - 2 * hour);
    await send("payable.approved", "before", gateway.url, { createdAt: at(7) });
    await send("payable.approved", "after", gateway.url, { createdAt: at(5) });
    await dispatched();
    expect((await runs()).map(({ inputs }) => inputs)).toMatchObject([
      { offCycle: { payableIds: ["after"] } },
    ]);
  });

  test("an event delivered several times to two gateways starts each playbook once", async () => {
    await apply("pay-now", PAY_NOW);
    await apply("pay-too", PAY_NOW);
    const other = await startTestGateway({
      folder: gateway.folder,
      temporalAddress: server.address,
    });
    try {
      const twice = { id: "evt_twice", createdAt: new Date().toISOString() };
      await Promise.all(
        [gateway.url, other.url, gateway.url, other.url].map((to) =>
          send("payable.created", "bill_3", to, twice),
        ),
      );
      await dispatched();
      const made = await runs();
      expect(made.map(({ playbook }) => playbook).toSorted()).toEqual(["pay-now", "pay-too"]);
      for (const { runId } of made) expect(await starts(runId)).toBe(1);
    } finally {
      await other.stop();
    }
  });

  test("an event starts its playbooks once, even if a gateway dies before Temporal is back", async () => {
    await apply("pay-now", PAY_NOW);
    await apply("stop-changed", STOP_CHANGED);
    const { folder: kept } = gateway;
    await gateway.gateway.stop();
    const offline = await startTestGateway({ folder: kept });
    await send("payable.approved", "bill_4", offline.url);
    await send("contact.updated", "con_4", offline.url);
    const rows = gateway.store.db.selectFrom("event_starts").selectAll();
    const recorded = await until(
      () => rows.where("state", "=", "recorded").execute(),
      (found) => found.length === 2,
    );
    await offline.stop();
    const back = await startTestGateway({ folder: kept, temporalAddress: server.address });
    try {
      await dispatched();
      for (const { workflow_id: id } of recorded) expect(await starts(id ?? "")).toBe(1);
      expect(await runs()).toHaveLength(1);
    } finally {
      await back.stop();
    }
  });
});

describe("taking payments back", () => {
  test("cancelling starts for a vendor or a bill, even one that a run has, and never twice a minute", async () => {
    await apply("stop-changed", STOP_CHANGED);
    const { runId } = await seedRun(gateway.store, {
      lines: [planLine("watched_bill", { contactId: "con_5" })],
    });
    await client.workflow.start("payRun", {
      workflowId: runId,
      taskQueue: "nobody",
      args: [{ runId }],
    });
    await send("payable.approval_reset", "watched_bill");
    for (let n = 0; n < 20; n += 1) await send("contact.updated", "con_5");
    await dispatched();
    const made = await openCancellations(gateway.store.db, "biz_acme");
    const chosen = new Set(made.map(({ policy: { choose } }) => choose.vendor ?? choose.payable));
    expect(made).toHaveLength(2);
    expect(chosen).toEqual(new Set(["con_5", "watched_bill"]));
    for (const { workflowId } of made) expect(await starts(workflowId)).toBe(1);
    const waiting = await gateway.store.db
      .selectFrom("event_starts")
      .select("due_at_ms")
      .where("state", "=", "waiting")
      .execute();
    for (const { due_at_ms: dueMs } of waiting) expect(dueMs).toBeGreaterThan(Date.now());
  });

  test("a hold started by an event is on bills of each open run of its playbook separately", async () => {
    await apply("wait-changed", "kind: hold\nchoose: { run: weekly }\nevents: [contact.updated]\n");
    const seeded = await Promise.all(
      ["2026-11-12", "2026-11-19"].map((period) =>
        seedRun(gateway.store, {
          period,
          lines: [planLine(`of_${period}`, { contactId: "con_6" })],
        }),
      ),
    );
    await send("contact.updated", "con_6");
    await dispatched();
    const made = await openCancellations(gateway.store.db, "biz_acme");
    expect(made).toHaveLength(2);
    expect(new Set(made.map(({ runId }) => runId))).toEqual(
      new Set(seeded.map(({ runId }) => runId)),
    );
    expect(made.map(({ policy }) => policy.choose.vendor)).toEqual(["con_6", "con_6"]);
    for (const cancellation of made) {
      // People read the vendor's name, and the playbook's name as the requester.
      expect(cancellation.reason).toMatch(/^events about vendor Vendor of of_2026/);
      expect(askerOf(cancellation)).toBe("wait-changed");
      expect(askerOf({ ...cancellation, requestedBy: "otto" })).toBe("otto");
    }
  });

  test("a playbook whose subject only an event names can't be launched", async () => {
    await apply("stop-changed", STOP_CHANGED);
    const launcher = await gateway.token("l", ["launcher"]);
    const answer = await gateway.call("POST", "/v1/runs", launcher, { playbook: "stop-changed" });
    expect(answer.status).toBe(422);
    expect(answer.json["message"]).toContain("contact.updated, payable.approval_reset");
  });
});
