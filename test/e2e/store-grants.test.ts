import { afterAll, beforeAll, describe, expect, test } from "vitest";
import pg from "pg";
import type { RunStatus } from "../../src/api/runs.ts";
import { openStore } from "../../src/store/open.ts";
import { grantStatements } from "../../src/store/postgres/grants.ts";
import { isLong } from "../support/long.ts";
import { databasesOf } from "../support/postgres-databases.ts";
import { canStartPostgres } from "../support/postgres-programs.ts";
import { startServer } from "../support/postgres-setup.ts";
import { paidOnce } from "../support/payrun.ts";
import { approve, each, plannedRun, stacks, untilEnded } from "../support/stack.ts";

const start = stacks();

describe.runIf(isLong && canStartPostgres())("a store with database roles", () => {
  let stop: () => Promise<void> = async () => undefined;
  let owner: string;

  beforeAll(async () => {
    const started = await startServer();
    ({ stop } = started);
    const databases = databasesOf(started.server.urlOf("postgres"));
    await databases.create("granted");
    owner = databases.urlOf("granted");
    await (await openStore(owner)).close();
    await sql(owner, [
      ...grantStatements(),
      ...grantStatements(),
      ...["worker", "gateway", "reader"].map(
        (name) => `create user a_${name} password 'x' in role payrun_${name}`,
      ),
    ]);
  });
  afterAll(() => stop());

  function as(user: string): string {
    const url = new URL(owner);
    url.username = user;
    url.password = "x";
    return url.href;
  }

  test("a worker and a gateway with their own database roles pay a run, and can't do each other's work", async () => {
    const payrun = await start({ databaseUrl: owner, worker: false });
    await payrun.stopGateway();
    payrun.partsUrl = as("a_gateway");
    await payrun.startGateway();
    payrun.partsUrl = as("a_worker");
    await payrun.startWorker();
    const { runId, made } = await plannedRun(payrun, [100_00, 200_00, 300_00]);
    const failing = made[2]?.id ?? "";
    const outcome = { match: { payableId: failing }, outcome: "fail", code: "R03" } as const;
    await payrun.sandbox.control.outcome(outcome);
    const held = { payableId: made[1]?.id, reason: "look" };
    const { body } = await payrun.call<{ id: string }>("admin", "POST", "/v1/holds", held);
    await approve(payrun, runId);
    await payrun.call("admin", "DELETE", `/v1/holds/${body.id}`);
    await payrun.sandbox.control.setScale(43_200);
    const isParked = ({ counts }: RunStatus): boolean => (counts.parked ?? 0) === 1;
    await payrun.until(runId, "parked", isParked, 120_000);
    const path = `/v1/payables/${encodeURIComponent(failing)}/resolution`;
    const resolved = { action: "give-up", reason: "closed" };
    expect((await payrun.call("admin", "POST", path, resolved)).status).toBe(200);
    await untilEnded(payrun, runId);
    const { actual, expected } = await paidOnce(payrun, each(made.slice(0, 2)));
    expect(actual).toEqual(expected);
    for (const [user, statement] of [
      ["a_worker", "update tokens set revoked_at_ms = null"],
      ["a_worker", "insert into playbooks (name) values ('x')"],
      ["a_gateway", "delete from attempts"],
      ["a_gateway", "insert into lookups (subject) values ('x')"],
      ["a_worker", "update audit_ends set entries = 0"],
      ["a_gateway", "delete from audit"],
      ["a_worker", "truncate run_lines"],
      ["a_reader", "select * from vault"],
      ["a_reader", "select * from tokens"],
      ["a_reader", "delete from holds"],
    ] as const) {
      await expect(sql(as(user), [statement]), statement).rejects.toThrow(/permission denied/);
    }
    await sql(as("a_reader"), ["select count(*) from audit", "select count(*) from run_lines"]);
  });
});

async function sql(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
