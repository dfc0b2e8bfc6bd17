import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isLong } from "../support/long.ts";
import { databasesOf } from "../support/postgres-databases.ts";
import { canStartPostgres } from "../support/postgres-programs.ts";
import type { PostgresServer } from "../support/postgres-server.ts";
import { startServer } from "../support/postgres-setup.ts";
import { paidOnce, type TestPayrun } from "../support/payrun.ts";
import { approve, each, plannedRun, stacks, untilEnded } from "../support/stack.ts";

const start = stacks();

/** Makes payments slow, so that one is always under way while the server restarts. */
const SLOW = { method: "POST", path: "/v1/payments", when: "after", effect: "delay" } as const;

describe.runIf(isLong && canStartPostgres())("a pay run whose store is in PostgreSQL", () => {
  let server: PostgresServer;
  let stop: () => Promise<void> = async () => undefined;

  beforeAll(async () => {
    ({ server, stop } = await startServer());
  });
  afterAll(() => stop());

  async function startOn(database: string): Promise<TestPayrun> {
    const databases = databasesOf(server.urlOf("postgres"));
    await databases.create(database);
    return start({ databaseUrl: databases.urlOf(database) });
  }

  test("a run survives a crash of PostgreSQL, loses no work and pays nothing twice", async () => {
    const payrun = await startOn("restarted");
    const amounts = Array.from({ length: 60 }, (_, index) => 100_00 + index);
    const { runId, made } = await plannedRun(payrun, amounts);
    await payrun.startWorker();
    await payrun.sandbox.control.faults([{ ...SLOW, delayMs: 400 }]);
    await approve(payrun, runId);
    await payrun.until(runId, "paying", ({ counts }) => (counts.scheduled ?? 0) >= 5);

    await server.stop("immediate");
    expect((await payrun.call("admin", "GET", "/ready")).status).toBe(503);
    await server.start();

    const done = await untilEnded(payrun, runId);
    expect(done.phase).toBe("completed");
    expect(done.counts).toEqual({ settled: made.length });
    const { actual, expected } = await paidOnce(payrun, each(made));
    expect(actual).toEqual(expected);
    const sends = await payrun.store.db
      .selectFrom("sends")
      .select(["seq", "result"])
      .distinct()
      .execute();
    // One key for each bill, and each send with its final result.
    expect(sends).toEqual([{ seq: 1, result: "applied" }]);
  });
});
