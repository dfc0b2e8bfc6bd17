import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import { expect } from "vitest";
import { startJanitor } from "../../src/janitor/janitor.ts";
import { holdIfBothMayBeLost } from "../../src/janitor/lost-store.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import { lastKept, noteKept } from "../../src/store/janitor/behind.ts";
import { auditHead } from "../../src/store/janitor/heads.ts";
import { testStore } from "../store/support.ts";
import { takeLease } from "../../src/store/sql/leases.ts";
import { listHolds } from "../../src/store/holds/holds.ts";
import { type MoneyWorld, test } from "../activities/money-world.ts";

/** Runs a worker's check before it polls, with a Temporal that knows only these workflows. */
async function look(
  world: MoneyWorld,
  running: readonly string[] = [],
  startTime = new Date(1),
): Promise<void> {
  const temporal = {
    withDeadline: (_: unknown, work: () => Promise<unknown>) => work(),
    workflow: {
      list: async function* () {
        yield* running.map((workflowId) => ({ workflowId, startTime }));
      },
      getHandle: () => ({
        describe: () => Promise.reject(new WorkflowNotFoundError("gone", "id", undefined)),
      }),
    },
  } as unknown as Client;
  const profiles = { all: () => [world.world.profile] };
  await holdIfBothMayBeLost({ ...world.context(), temporal, profiles });
}

/** Makes the store say that it was last in use `agoMs` ago, as a restored backup does. */
async function lastInUse(world: MoneyWorld, agoMs: number): Promise<void> {
  const { db } = world.store;
  await noteKept(db);
  const { atMs } = (await lastKept(db)) ?? { atMs: 0 };
  const until = { until_ms: atMs - agoMs };
  await db.updateTable("leases").set(until).where("name", "=", "store-kept").execute();
}

/** Makes a run that was launched well before all that. */
async function runOfDaysAgo(world: MoneyWorld): Promise<string> {
  const { runId } = await world.plannedRun([{}]);
  await world.store.db.updateTable("runs").set({ launched_at_ms: 1 }).execute();
  return runId;
}

const holdsOf = async ({ store, businessId }: MoneyWorld) =>
  (await listHolds(store.db, { businessId, nowMs: 0 })).map(({ scope, reason }) => ({
    scope,
    reason,
  }));

test("a store that was not in use until now is put on hold once if Temporal has lost its workflows", async ({
  world,
}) => {
  const runId = await runOfDaysAgo(world);
  await lastInUse(world, 600_000);
  await look(world);
  await look(world);
  const held = await holdsOf(world);
  expect(held).toEqual([{ scope: "all", reason: expect.stringContaining("may be older") }]);
  expect(held[0]?.reason).toContain(`Temporal has lost ${runId}, and the store had not been`);
});

test("a store that was in use until now goes on even if Temporal has lost its workflows", async ({
  world,
}) => {
  await runOfDaysAgo(world);
  await lastInUse(world, 200_000);
  await look(world);
  expect(await holdsOf(world)).toEqual([]);
});

test("a store whose processes rested for a night goes on if Temporal has its workflows", async ({
  world,
}) => {
  const runId = await runOfDaysAgo(world);
  await lastInUse(world, 36_000_000);
  await look(world, [runId]);
  expect(await holdsOf(world)).toEqual([]);
});

test("a workflow that a gateway started again before any worker came still counts as lost", async ({
  world,
}) => {
  const runId = await runOfDaysAgo(world);
  await lastInUse(world, 36_000_000);
  await look(world, [runId], new Date());
  expect((await holdsOf(world)).map(({ scope }) => scope)).toEqual(["all"]);
});

test("a run whose launch had not reached Temporal yet is no sign of a loss", async ({ world }) => {
  await world.plannedRun([{}]);
  await lastInUse(world, 36_000_000);
  await world.store.db.updateTable("runs").set({ launched_at_ms: Date.now() }).execute();
  await look(world);
  expect(await holdsOf(world)).toEqual([]);
});

/** Starts a janitor beside a Temporal in which this run has ended, with a history that says so. */
async function besideEnded(world: MoneyWorld, runId: string, auditHead: unknown): Promise<void> {
  const data = Buffer.from(JSON.stringify({ ended: true, auditHead }));
  const result = { payloads: [{ metadata: { encoding: Buffer.from("json/plain") }, data }] };
  const loadedDataConverter = { payloadConverter: defaultPayloadConverter, payloadCodecs: [] };
  const temporal = {
    withDeadline: (_: unknown, work: () => Promise<unknown>) => work(),
    options: { namespace: "default", loadedDataConverter },
    workflowService: {
      getWorkflowExecutionHistoryReverse: async () => ({
        history: { events: [{ activityTaskCompletedEventAttributes: { result } }] },
      }),
    },
    workflow: {
      list: async function* ({ query }: { query: string }) {
        if (!query.includes("Running")) yield { workflowId: runId, startTime: new Date() };
      },
      getHandle: () => ({
        describe: async () => ({ status: { name: "COMPLETED" }, closeTime: new Date() }),
      }),
      signalWithStart: async () => undefined,
    },
  } as unknown as Client;
  const profiles = { all: () => [world.world.profile] };
  const janitor = await startJanitor({ ...world.context(), temporal, profiles });
  await janitor.stop();
}

/** Returns an end of the trail that the store has seen and that its backup lacks. */
async function laterHead({ store: backup, businessId }: MoneyWorld): Promise<unknown> {
  await auditHead(backup.db, businessId);
  const { store } = await testStore();
  const secrets = await backup.db.selectFrom("secrets").selectAll().execute();
  await store.db.insertInto("secrets").values(secrets).execute();
  const entry = { businessId, nowMs: 1, actor: "lena", action: "noted", subject: "p1" };
  await store.transaction((trx) => appendAudit(trx, { ...entry, details: {} }));
  return auditHead(store.db, businessId);
}

test("before a worker polls, all is put on hold if a run that the store has open has ended, despite an old worker's lease", async ({
  world,
}) => {
  const runId = await runOfDaysAgo(world);
  const { db } = world.store;
  expect(await takeLease(db, { name: "janitor", holder: "of then" }, 122_000)).toBe(true);
  await besideEnded(world, runId, await laterHead(world));
  expect(await holdsOf(world)).toEqual([
    { scope: "all", reason: expect.stringContaining(`the run ${runId} has ended`) },
  ]);
});

test("a run that somebody has ended or started in Temporal is no sign of a loss", async ({
  world,
}) => {
  const runId = await runOfDaysAgo(world);
  const forged = { hash: "f".repeat(64), atMs: Date.now() + 3_600_000, proof: "f".repeat(64) };
  for (const id of [runId, "pay-run/acme/CALL +1 555 0100/2026-01-01"]) {
    await besideEnded(world, id, forged);
  }
  expect(await holdsOf(world)).toEqual([]);
});
