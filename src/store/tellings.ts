import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import { asColumns, readerOf } from "./as-record.ts";
import { concernedBy, type Fact } from "./concerned.ts";
import { databaseNowMs } from "./database-clock.ts";
import { chunks, type Db } from "./db.ts";
import { idsIn } from "./many.ts";
import type { Tables } from "./tables.ts";

/** A workflow that has not been told to look yet, though something was written that concerns it. */
export interface Telling {
  readonly tellingId: string;
  readonly workflowId: string;
}

/** Facts of the transactions that are under way. */
const written = new WeakMap<
  Transaction<Tables>,
  { readonly businessId: string; readonly fact: Fact }[]
>();

/**
 * Has everybody told whom a fact concerns, once the transaction that writes it has committed: a
 * process that dies in between leaves the rows to the gateways.
 */
export function tellOf(trx: Transaction<Tables>, businessId: string, fact: Fact): void {
  const all = written.get(trx);
  if (all === undefined) throw new Error("what is told of belongs into a transaction of the store");
  all.push({ businessId, fact });
}

/**
 * Does the work of a transaction, and writes down whom its facts concern before it commits.
 *
 * @param noted hears whom, each time that the transaction is tried
 */
export async function withTellings<T>(
  trx: Transaction<Tables>,
  work: (trx: Transaction<Tables>) => Promise<T>,
  noted: (tellings: readonly Telling[]) => void,
): Promise<T> {
  const all: { readonly businessId: string; readonly fact: Fact }[] = [];
  written.set(trx, all);
  try {
    const result = await work(trx);
    const tellings: Telling[] = [];
    for (const [businessId, ofOne] of Map.groupBy(all, (each) => each.businessId)) {
      const facts = ofOne.map(({ fact }) => fact);
      tellings.push(...(await insert(trx, businessId, await concernedBy(trx, businessId, facts))));
    }
    noted(tellings);
    return result;
  } finally {
    written.delete(trx);
  }
}

async function insert(
  trx: Transaction<Tables>,
  businessId: string,
  workflowIds: ReadonlySet<string>,
): Promise<Telling[]> {
  if (workflowIds.size === 0) return [];
  const atMs = await databaseNowMs(trx);
  const tellings = [...workflowIds].map((workflowId) => ({
    tellingId: `tell_${randomUUID()}`,
    workflowId,
  }));
  for (const some of chunks(tellings)) {
    await trx
      .insertInto("tellings")
      .values(some.map((telling) => asColumns({ ...telling, businessId, atMs })))
      .execute();
  }
  return tellings;
}

/** The oldest that nobody has been told of, with their age. */
export async function oldestTellings(
  db: Db,
  limit: number,
): Promise<(Telling & { readonly ageMs: number })[]> {
  const rows = await db
    .selectFrom("tellings")
    .select(["telling_id", "workflow_id", "at_ms"])
    .orderBy("at_ms")
    .limit(limit)
    .execute();
  if (rows.length === 0) return [];
  const nowMs = await databaseNowMs(db);
  return rows.map(readerOf("tellings")).map(({ atMs, ...of }) => ({ ...of, ageMs: nowMs - atMs }));
}

export async function forgetTellings(db: Db, tellings: readonly Telling[]): Promise<void> {
  if (tellings.length === 0) return;
  await db
    .deleteFrom("tellings")
    .where("telling_id", "in", idsIn(tellings.map(({ tellingId }) => tellingId)))
    .execute();
}
