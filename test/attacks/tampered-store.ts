import { expect } from "vitest";
import { sql } from "kysely";
import { takeDecision } from "../../src/decisions/take.ts";
import type { Db } from "../../src/store/index.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import type { MoneyWorld, PlannedBills } from "../activities/money-world.ts";

/** What somebody does who can write to the store's tables. */
export type Tamper = (world: MoneyWorld, planned: PlannedBills) => Promise<unknown>;

/** Takes a decision on a run as the gateway does. */
export async function decide(
  world: MoneyWorld,
  { runId }: PlannedBills,
  said: { readonly by: string; readonly decision?: "reject"; readonly drop?: readonly string[] },
  answers: object = { accepted: true },
): Promise<void> {
  const { by, decision = "approve", drop = [] } = said;
  const clock = await world.context().clockOf("acme").now();
  await world.store.transaction(async (trx) => {
    const run = await getRun(trx, runId);
    if (run?.planHash == null) throw new Error(`${runId} has no plan`);
    const request = { decision, planHash: run.planHash, drop } as const;
    const principal = { tokenId: `tok_${by}`, name: by, roles: ["owner"] };
    const answer = await takeDecision(trx, { run, request, principal, clock, nowMs: Date.now() });
    expect(answer).toMatchObject(answers);
  });
}

/** Does what a table's triggers refuse, as who owns the file can. */
export async function unguarded(
  db: Db,
  table: string,
  act: (db: Db) => Promise<unknown>,
): Promise<void> {
  const found = await sql<{ name: string }>`select name from sqlite_master
    where type = 'trigger' and tbl_name = ${table}`.execute(db);
  for (const { name } of found.rows) await sql`drop trigger ${sql.ref(name)}`.execute(db);
  await act(db);
}
