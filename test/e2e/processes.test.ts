import type { ChildProcess } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { insertEvents } from "../../src/store/inbox.ts";
import { deliver, eventBody, signed } from "../gateway/support/gateway.ts";
import { startPayrun, type TestPayrun } from "../support/payrun.ts";
import {
  ended,
  expectBank,
  paymentsOf,
  plannedScene,
  type Scene,
  scenePlaybook,
  standing,
} from "../support/scene.ts";
import { bills } from "../support/bills.ts";
import { approve } from "../support/stack.ts";

let payrun: TestPayrun;

beforeAll(async () => {
  payrun = await startPayrun();
});
afterEach(async () => {
  await payrun.sandbox.control.faults([]);
});
afterAll(async () => {
  await payrun?.stop();
});

async function expectSettledOnce(scene: Scene): Promise<void> {
  const done = await ended(payrun, scene.runId);
  expect(standing(done)).toEqual({ settled: scene.made.length });
  await expectBank(
    payrun,
    scene.made.map((bill) => [bill, bill.amountCents]),
  );
}

function slowPayments(delayMs: number): Promise<unknown> {
  return payrun.sandbox.control.faults([
    { method: "POST", path: "/v1/payments", when: "after", effect: "delay", delayMs },
  ]);
}

/** Which workers have sent payments for these bills, by the ledger of attempts. */
async function senders(scene: Scene): Promise<Set<string>> {
  const rows = await payrun.store.db
    .selectFrom("attempts")
    .select("sends")
    .where(
      "subject",
      "in",
      scene.made.map(({ id }) => id),
    )
    .execute();
  const sends = rows.flatMap((row) => JSON.parse(row.sends) as { by: string }[]);
  return new Set(sends.map(({ by }) => by.split("/")[0] ?? ""));
}

/** Everything that the store knows of a scene's lines and their requests. */
async function known(scene: Scene): Promise<unknown> {
  const lines = await payrun.store.db
    .selectFrom("run_lines")
    .select(["payable_id", "state", "payment_ids", "lease_epoch", "attempts"])
    .where("run_id", "=", scene.runId)
    .orderBy("payable_id")
    .execute();
  const attempts = await payrun.store.db
    .selectFrom("attempts")
    .select(["attempt_id", "state", "payment_ids", "sends"])
    .where("owner", "=", scene.runId)
    .orderBy("attempt_id")
    .execute();
  return { lines, attempts };
}

/**
 * Stops a worker at a moment when it does not hold the store's write lock: SQLite has no way to
 * take that from a process that lives and does nothing.
 */
async function freeze(worker: ChildProcess): Promise<void> {
  const path = payrun.databaseUrl.replace(/^sqlite:/, "");
  for (;;) {
    worker.kill("SIGSTOP");
    const database = new DatabaseSync(path, { timeout: 300 });
    try {
      database.exec("begin immediate");
      database.exec("rollback");
      return;
    } catch {
      worker.kill("SIGCONT");
      await sleep(20);
    } finally {
      database.close();
    }
  }
}

/** Lets a frozen worker go on, and waits until it has noticed how late it is. */
async function thaw(worker: ChildProcess): Promise<void> {
  worker.kill("SIGCONT");
  const marker = `thaw-${worker.pid}`;
  // Only this worker is left to answer, so an answer shows that it is awake.
  const others = payrun.workers.filter((each) => each !== worker);
  for (const other of others) await freeze(other);
  await payrun.apply(marker, scenePlaybook(marker));
  const runId = await payrun.launch(marker);
  await payrun.until(runId, "planned", ({ phase }) => phase !== "planning");
  for (const other of others) other.kill("SIGCONT");
}

describe("two workers", () => {
  test("share the work: where one is killed in the middle of paying the other finishes", async () => {
    await payrun.startWorker();
    const amounts = Array.from({ length: 50 }, (_, index) => (index + 1) * 1_00);
    const scene = await plannedScene(payrun, "shared", amounts);
    await slowPayments(1_500);
    await approve(payrun, scene.runId);
    // Which of them gets the lanes is the server's choice: the one that pays is killed.
    await expect.poll(async () => (await senders(scene)).size, { timeout: 30_000 }).not.toBe(0);
    const paying = await senders(scene);
    const killed = payrun.workers.find(({ pid }) => paying.has(`${hostname()}:${pid}`));
    if (killed === undefined) throw new Error(`none of ours has paid: ${[...paying].join(", ")}`);
    await payrun.killWorker(killed);
    expect(payrun.workers).toHaveLength(1);
    await payrun.sandbox.control.faults([]);
    await expectSettledOnce(scene);
  });

  test("of which one froze past its lease: it changes nothing when it wakes up", async () => {
    const [frozen] = payrun.workers;
    if (frozen === undefined) throw new Error("there is no worker to freeze");
    const amounts = Array.from({ length: 12 }, (_, index) => (index + 1) * 1_00);
    const scene = await plannedScene(payrun, "frozen-late", amounts);
    await slowPayments(1_500);
    await approve(payrun, scene.runId);
    await expect
      .poll(async () => (await paymentsOf(payrun, scene.made[0])).length, { timeout: 30_000 })
      .toBe(1);
    await freeze(frozen);
    await payrun.sandbox.control.faults([]);
    await payrun.startWorker();
    await payrun.until(scene.runId, "paid", ({ counts }) => counts.scheduled === 12);
    const before = await known(scene);
    await thaw(frozen);
    expect(await known(scene)).toEqual(before);
    const payments = await Promise.all(scene.made.map((bill) => paymentsOf(payrun, bill)));
    expect(payments.map(({ length }) => length)).toEqual(scene.made.map(() => 1));
    await expectSettledOnce(scene);
  });
});

describe("two runs on one balance", () => {
  test("never promise the same money twice: the second pays what fits, or waits", async () => {
    const { control } = payrun.sandbox;
    const short = (name: string, whenShort: string): Promise<Scene> =>
      plannedScene(payrun, name, [300_00, 400_00], {
        pay: `{ on: next-business-day, whenShort: ${whenShort} }`,
      });
    const [first, second] = [await short("one", "most-urgent-first"), await short("two", "wait")];
    await control.changeBusiness({ balanceCents: 1_000_00 });
    await Promise.all([approve(payrun, first.runId), approve(payrun, second.runId)]);
    const scenes = [first, second];
    const stand = async () => Promise.all(scenes.map(({ runId }) => payrun.status(runId)));
    const sentOrShort = ({ payments }: Awaited<ReturnType<typeof stand>>[number]): boolean =>
      payments.every(
        ({ state, reasonCode }) => state === "scheduled" || reasonCode === "funding-short",
      );
    await expect
      .poll(async () => (await stand()).every(sentOrShort), { timeout: 60_000 })
      .toBe(true);
    const promised = (await stand())
      .flatMap(({ payments }) => payments)
      .filter(({ state }) => state === "scheduled")
      .reduce((sum, { amountCents }) => sum + amountCents, 0);
    expect([700_00, 1_000_00]).toContain(promised);
    await control.changeBusiness({ balanceCents: 5_000_00 });
    for (const scene of scenes) await expectSettledOnce(scene);
  });
});

describe("two gateways", () => {
  let other = "";

  beforeAll(async () => {
    other = await payrun.startAnotherGateway();
  });

  test("store an event once, whoever receives it, and both may", async () => {
    const { businessId } = payrun.sandbox.business;
    const ids = Array.from({ length: 10 }, (_, index) => `evt_twice_${index}`);
    const answers = await Promise.all(
      ids.flatMap((id) => {
        const body = eventBody({ id, objectId: "bill_unknown", businessId });
        const signature = signed(body, Date.now(), payrun.webhookSecret);
        return [payrun.gatewayUrl, other].map((url) =>
          deliver(url, body, { business: "default", signature }),
        );
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const rows = await payrun.store.db
      .selectFrom("inbox")
      .select("event_id")
      .where("event_id", "like", "evt_twice_%")
      .execute();
    expect(rows).toHaveLength(10);
  });

  test("count each of two decisions once that reach them at the same moment", async () => {
    const scene = await plannedScene(payrun, "both-decide", [25_00], {
      approve: ["{ by: [controller, owner], quorum: 2 }"],
    });
    const { planHash } = await payrun.status(scene.runId);
    const path = `/v1/runs/${encodeURIComponent(scene.runId)}/decisions`;
    const body = { decision: "approve", planHash };
    const answers = await Promise.all([
      payrun.call("controller", "POST", path, body),
      payrun.call("controller", "POST", path, body, other),
      payrun.call("owner", "POST", path, body, other),
      payrun.call("owner", "POST", path, body),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const decisions = await payrun.store.db
      .selectFrom("decisions")
      .select(["principal", "outcome"])
      .where("run_id", "=", scene.runId)
      .orderBy("principal")
      .execute();
    expect(decisions).toEqual([
      { principal: "controller", outcome: "accepted" },
      { principal: "owner", outcome: "accepted" },
    ]);
    await expectSettledOnce(scene);
  });

  test("tell an owner of many events once, not each of them", async () => {
    const { control } = payrun.sandbox;
    const name = "told-once";
    const made = await bills(payrun.sandbox, [11_00, 12_00, 13_00], { description: name });
    await payrun.apply(name, scenePlaybook(name));
    const runId = await payrun.launch(name);
    await payrun.untilPhase(runId, "awaiting-approval");
    await control.faults([], { lose: 1 });
    await payrun.killWorkers();
    await payrun.stopGateway();
    const before = await signals(runId);
    await insertEvents(
      payrun.store.db,
      made.map(({ id }, index) => ({
        businessId: payrun.sandbox.business.businessId,
        eventId: `evt_once_${index}`,
        type: "payable.updated",
        sequence: String(index),
        object: "payable",
        objectId: id,
        createdAt: new Date().toISOString(),
        receivedAtMs: Date.now(),
        via: "webhook" as const,
        body: "{}",
      })),
    );
    await Promise.all([payrun.startGateway(), payrun.startAnotherGateway()]);
    await expect.poll(async () => (await signals(runId)) - before, { timeout: 30_000 }).toBe(1);
    await expect.poll(() => undispatched(), { timeout: 30_000 }).toBe(0);
    expect((await signals(runId)) - before).toBe(1);
    await payrun.startWorker();
    await approve(payrun, runId);
    await expectSettledOnce({ runId, made });
  });
});

async function signals(workflowId: string): Promise<number> {
  const history = await payrun.temporal.workflow.getHandle(workflowId).fetchHistory();
  return (history.events ?? []).filter(
    (event) =>
      event.workflowExecutionSignaledEventAttributes !== undefined &&
      event.workflowExecutionSignaledEventAttributes !== null,
  ).length;
}

async function undispatched(): Promise<number> {
  const rows = await payrun.store.db
    .selectFrom("inbox")
    .select("event_id")
    .where("dispatched_at_ms", "is", null)
    .execute();
  return rows.length;
}
