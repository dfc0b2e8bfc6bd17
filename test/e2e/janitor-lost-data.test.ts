import { DatabaseSync } from "node:sqlite";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { msToTs } from "@temporalio/common/lib/time.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DevServer, startDevServer } from "../gateway/support/dev-server.ts";
import { bills, PAY_ALL } from "../support/bills.ts";
import { lastKept } from "../../src/store/janitor/behind.ts";
import { isLong } from "../support/long.ts";
import { paidOnce, type TestPayrun } from "../support/payrun.ts";
import { paymentRequests } from "../support/scene.ts";
import { approve, each, plannedRun, stacks, untilEnded } from "../support/stack.ts";

const start = stacks();

type Planned = Awaited<ReturnType<typeof plannedRun>>;

/** Real time between passes here. */
const PASS_EVERY_MS = 400;

let folder: string;
let server: DevServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "payrun-lost-"));
  server = await startDevServer(folder);
});
afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true, force: true });
});

/** Loses everything that the server knew, as deleting its file does. */
async function loseTemporal(): Promise<void> {
  await server.kill();
  for (const end of ["", "-wal", "-shm"]) {
    await rm(join(folder, `temporal.db${end}`), { force: true });
  }
  await server.start();
}

/** Deletes the namespace with all that is in it, and makes an empty one of its name. */
async function remakeNamespace({ temporal, namespace }: TestPayrun): Promise<void> {
  const { operatorService, workflowService } = temporal.connection;
  await operatorService.deleteNamespace({ namespace });
  await expect
    .poll(
      async () => {
        const day = msToTs("1 day");
        const made = { namespace, workflowExecutionRetentionPeriod: day };
        return workflowService.registerNamespace(made).then(
          () => "made",
          () => "still there",
        );
      },
      { timeout: 60_000, interval: 500 },
    )
    .toBe("made");
  // Known to all of the server within seconds.
  await expect
    .poll(
      () =>
        temporal.workflow.count().then(
          () => "ready",
          () => "not yet",
        ),
      { timeout: 60_000, interval: 500 },
    )
    .toBe("ready");
}

function filesOf(payrun: TestPayrun): string[] {
  const path = payrun.databaseUrl.replace(/^sqlite:/, "");
  return [path, `${path}-wal`, `${path}-shm`];
}

/** A copy of the store as it is now, as a backup makes one while everything runs. */
function backUp(payrun: TestPayrun): string {
  const [path = ""] = filesOf(payrun);
  const copy = join(payrun.home, `backup-${Date.now()}.db`);
  const database = new DatabaseSync(path);
  database.exec(`vacuum into '${copy}'`);
  database.close();
  return copy;
}

/** Stops everything that has the store open, puts another file in its place, or none, and goes on. */
async function replaceStore(payrun: TestPayrun, backup?: string): Promise<void> {
  await payrun.killWorkers();
  await payrun.stopGateway("SIGKILL");
  await payrun.store.close();
  for (const file of filesOf(payrun)) await rm(file, { force: true });
  const [path = ""] = filesOf(payrun);
  if (backup !== undefined) await copyFile(backup, path);
  await payrun.openStore();
  if (backup === undefined) await payrun.makeTokens();
  await payrun.startWorker();
  await payrun.startGateway();
}

interface HoldJson {
  readonly id: string;
  readonly scope: string;
  readonly author: string;
  readonly reason: string;
}

/** The hold on everything, which a worker has set before it began to work. */
async function holdOnAll(payrun: TestPayrun): Promise<HoldJson> {
  let all: HoldJson[] = [];
  await expect
    .poll(
      async () => {
        const { body } = await payrun.call<{ items: HoldJson[] }>("operator", "GET", "/v1/holds");
        all = body.items.filter(({ scope }) => scope === "all");
        return all.length;
      },
      { timeout: 60_000 },
    )
    .toBe(1);
  const [hold] = all;
  if (hold === undefined) throw new Error("nothing is on hold");
  expect(hold).toMatchObject({ author: "payrun", reason: expect.stringMatching(/older than/) });
  return hold;
}

/** What an operator compares: the service's payments, and what the store knows of each. */
async function compared(payrun: TestPayrun) {
  interface Listed {
    readonly onRecord: boolean;
    readonly mayBeOurs: boolean;
  }
  const path = "/v1/payments?since=2000-01-01";
  const { body } = await payrun.call<{ items: Listed[] }>("operator", "GET", path);
  return body.items.map(({ onRecord, mayBeOurs }) => ({ onRecord, mayBeOurs }));
}

async function release(payrun: TestPayrun, hold: HoldJson): Promise<void> {
  const { status } = await payrun.call("operator", "DELETE", `/v1/holds/${hold.id}`);
  expect(status).toBe(200);
}

async function expectAllDone(payrun: TestPayrun, made: Parameters<typeof each>[0]): Promise<void> {
  const { actual, expected } = await paidOnce(payrun, each(made));
  expect(actual).toEqual(expected);
  const claims = () => payrun.store.db.selectFrom("claims").selectAll().execute();
  await expect.poll(claims, { timeout: 30_000 }).toEqual([]);
}

describe("Temporal's data, deleted in the middle of paying,", () => {
  const paying = async (): Promise<{ payrun: TestPayrun } & Planned> => {
    await loseTemporal();
    const payrun = await start({ janitorEveryMs: PASS_EVERY_MS, temporalAddress: server.address });
    const planned = await plannedRun(payrun, [10_00, 20_00, 30_00]);
    await payrun.sandbox.control.faults([
      { method: "POST", path: "/v1/payments", when: "after", effect: "delay", delayMs: 3_000 },
    ]);
    await approve(payrun, planned.runId);
    await payrun.until(planned.runId, "paying", ({ counts }) => counts.paying === 3);
    return { payrun, ...planned };
  };
  const expectSettled = async (
    payrun: TestPayrun,
    { runId, made }: Planned,
    expected: number,
  ): Promise<void> => {
    const done = await untilEnded(payrun, runId);
    expect(done.counts).toEqual({ settled: expected });
    await expectAllDone(payrun, made);
  };

  test.runIf(isLong)("and the worker with it, costs no bill and no second payment", async () => {
    const { payrun, ...planned } = await paying();
    await payrun.killWorkers();
    await loseTemporal();
    await payrun.sandbox.control.faults([]);
    await payrun.startWorker();
    await expectSettled(payrun, planned, 3);
  });

  test.runIf(isLong)(
    "is got over by worker and gateway by themselves: no bill and no second payment",
    async () => {
      const { payrun, ...planned } = await paying();
      const [worker] = payrun.workers;
      await loseTemporal();
      await payrun.sandbox.control.faults([]);
      await expectSettled(payrun, planned, 3);
      // The same processes, which launch, tell and pay as before.
      expect(worker?.exitCode).toBeNull();
      await payrun.sandbox.control.setScale(1);
      const made = await bills(payrun.sandbox, [40_00]);
      await payrun.apply("next", PAY_ALL);
      const next = await payrun.launch("next");
      await payrun.untilPhase(next, "awaiting-approval");
      await approve(payrun, next);
      expect((await untilEnded(payrun, next)).counts.settled).toBe(1);
      await expectAllDone(payrun, [...planned.made, ...made]);
    },
  );
});

describe.runIf(isLong)("a namespace", () => {
  test("deleted in the middle of paying and made again costs no bill and no second payment", async () => {
    await loseTemporal();
    const payrun = await start({ janitorEveryMs: PASS_EVERY_MS, temporalAddress: server.address });
    const { runId, made } = await plannedRun(payrun, [10_00, 20_00]);
    await payrun.sandbox.control.faults([
      { method: "POST", path: "/v1/payments", when: "after", effect: "drop", times: 2 },
    ]);
    await approve(payrun, runId);
    await payrun.until(runId, "sent", ({ counts }) => counts.planned === undefined);
    await payrun.killWorkers();
    await remakeNamespace(payrun);
    const isLost = (): Promise<boolean> =>
      payrun.temporal.workflow
        .getHandle(runId)
        .describe()
        .then(
          () => false,
          (error: unknown) => /not found/i.test(String(error)),
        );
    // The server may answer from the old namespace for some seconds.
    await expect.poll(isLost, { timeout: 60_000, interval: 500 }).toBe(true);
    await payrun.startWorker();
    const done = await untilEnded(payrun, runId);
    expect(done.counts).toEqual({ settled: 2 });
    await expectAllDone(payrun, made);
  });
});

describe("a store that was restored from a backup", () => {
  test.runIf(isLong)(
    "holds everything until a person has looked, and then finds what was paid meanwhile",
    async () => {
      await loseTemporal();
      const payrun = await start({
        janitorEveryMs: PASS_EVERY_MS,
        temporalAddress: server.address,
      });
      const { runId, made } = await plannedRun(payrun, [10_00, 20_00]);
      const backup = backUp(payrun);
      await approve(payrun, runId);
      await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 2);
      await replaceStore(payrun, backup);
      const hold = await holdOnAll(payrun);
      expect(await compared(payrun)).toEqual(
        made.map(() => ({ onRecord: false, mayBeOurs: true })),
      );
      await approve(payrun, runId);
      await payrun.until(runId, "on hold", ({ counts }) => counts["on-hold"] === 2);
      await release(payrun, hold);
      // Nothing is sent before what may have been forgotten must show.
      await payrun.sandbox.control.advanceWire("PT9M");
      const found = await payrun.until(runId, "found", ({ counts }) => counts.scheduled === 2);
      expect(found.payments.map(({ paymentIds }) => paymentIds.length)).toEqual([1, 1]);
      expect(await paymentRequests(payrun)).toBe(2);
      const done = await untilEnded(payrun, runId);
      expect(done.counts).toEqual({ settled: 2 });
      expect(await compared(payrun)).toEqual(
        made.map(() => ({ onRecord: true, mayBeOurs: false })),
      );
      await expectAllDone(payrun, made);
    },
  );

  test.runIf(isLong)(
    "does so too where the run had ended, and where it was launched after the backup",
    async () => {
      await loseTemporal();
      const payrun = await start({
        janitorEveryMs: PASS_EVERY_MS,
        temporalAddress: server.address,
      });
      const { runId, made } = await plannedRun(payrun, [10_00]);
      const backup = backUp(payrun);
      await approve(payrun, runId);
      await untilEnded(payrun, runId);
      await payrun.sandbox.control.setScale(1);
      const later = await bills(payrun.sandbox, [40_00]);
      await payrun.apply("later", PAY_ALL);
      const second = await payrun.launch("later");
      await payrun.untilPhase(second, "awaiting-approval");
      await approve(payrun, second);
      await payrun.until(second, "sent", ({ counts }) => counts.scheduled === 1);
      await replaceStore(payrun, backup);
      const hold = await holdOnAll(payrun);
      await approve(payrun, runId);
      await release(payrun, hold);
      // Nothing is sent before what may have been forgotten must show.
      await payrun.sandbox.control.advanceWire("PT9M");
      const done = await untilEnded(payrun, runId);
      expect(done.counts).toEqual({ settled: 1 });
      expect(await paymentRequests(payrun)).toBe(2);
      await payrun.sandbox.control.advance("P14D");
      await expectAllDone(payrun, [...made, ...later]);
    },
  );
});

describe.runIf(isLong)("store and Temporal's data, lost together,", () => {
  test("hold everything, because nobody remembers what the restored store has lost", async () => {
    await loseTemporal();
    const payrun = await start({ janitorEveryMs: PASS_EVERY_MS, temporalAddress: server.address });
    const { runId, made } = await plannedRun(payrun, [10_00]);
    await expect.poll(() => lastKept(payrun.store.db)).not.toBeNull();
    const backup = backUp(payrun);
    // As one that was made an hour ago.
    const database = new DatabaseSync(backup);
    database.exec(
      "update leases set until_ms = until_ms - 3600000 where name = 'store-kept'; update runs set launched_at_ms = launched_at_ms - 7200000",
    );
    database.close();
    await payrun.call("launcher", "POST", `/v1/runs/${encodeURIComponent(runId)}/cancel`);
    await payrun.killWorkers();
    await loseTemporal();
    await replaceStore(payrun, backup);
    const hold = await holdOnAll(payrun);
    expect(hold.reason).toContain(`Temporal has lost ${runId}`);
    await approve(payrun, runId);
    await payrun.until(runId, "on hold", ({ counts }) => counts["on-hold"] === 1);
    expect(await paymentRequests(payrun)).toBe(0);
    await release(payrun, hold);
    await payrun.sandbox.control.advanceWire("PT9M");
    expect((await untilEnded(payrun, runId)).counts).toEqual({ settled: 1 });
    await expectAllDone(payrun, made);
  });
});

describe.runIf(isLong)("an empty store", () => {
  test("beside a Temporal that has runs holds everything, and pays nothing twice afterwards", async () => {
    await loseTemporal();
    const payrun = await start({
      janitorEveryMs: PASS_EVERY_MS,
      temporalAddress: server.address,
    });
    const { runId, made } = await plannedRun(payrun, [10_00, 20_00]);
    await approve(payrun, runId);
    await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 2);
    await replaceStore(payrun);
    await release(payrun, await holdOnAll(payrun));
    // Slowly: a deadline of today must not pass before the approval.
    await payrun.sandbox.control.setScale(1);
    const more = await bills(payrun.sandbox, [30_00]);
    await payrun.apply("weekly", PAY_ALL);
    expect(await payrun.launch("weekly")).toBe(runId);
    const planned = await payrun.untilPhase(runId, "awaiting-approval");
    expect(planned.payments.map(({ payableId }) => payableId)).toEqual(more.map(({ id }) => id));
    await approve(payrun, runId);
    // Nothing is sent before what may have been forgotten must show.
    await payrun.sandbox.control.advanceWire("PT9M");
    const done = await untilEnded(payrun, runId);
    expect(done.counts.settled).toBe(1);
    await payrun.sandbox.control.advance("P14D");
    await expectAllDone(payrun, [...made, ...more]);
  });
});
