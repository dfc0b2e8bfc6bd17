import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import type { Wake } from "../../domain/facts/fact.ts";
import { asColumns, readerOf } from "../sql/as-record.ts";
import { databaseNowMs } from "../sql/database-clock.ts";
import { chunks, type Db } from "../sql/db.ts";
import type { PendingSignal } from "../sql/store.ts";
import { idsIn } from "../sql/rows-as.ts";
import type { Tables } from "../schema/tables.ts";

/** Facts of the transactions that are under way. */
const written = new WeakMap<Db, { readonly businessId: string; readonly fact: Wake }[]>();

/**
 * Has the workflows that a fact concerns signaled, once the transaction that writes it has
 * committed. If the process dies in between, the gateways send the signals, from the rows that are
 * left.
 */
export function signalOnCommit(trx: Db, businessId: string, fact: Wake): void {
  const all = written.get(trx);
  if (all === undefined) throw new Error("pending signals belong in a transaction of the store");
  all.push({ businessId, fact });
}

/**
 * Does the work of a transaction, and writes the pending signals of its facts before it commits.
 *
 * @param concernedBy returns the workflows that facts of a business concern
 * @param noted gets the pending signals, each time that the transaction is tried
 */
export async function withPendingSignals<T>(
  trx: Transaction<Tables>,
  work: (trx: Transaction<Tables>) => Promise<T>,
  concernedBy: (
    trx: Transaction<Tables>,
    businessId: string,
    facts: readonly Wake[],
  ) => Promise<ReadonlySet<string>>,
  noted: (pendingSignals: readonly PendingSignal[]) => void,
): Promise<T> {
  const all: { readonly businessId: string; readonly fact: Wake }[] = [];
  written.set(trx, all);
  try {
    const result = await work(trx);
    const pendingSignals: PendingSignal[] = [];
    for (const [businessId, ofOne] of Map.groupBy(all, (each) => each.businessId)) {
      const facts = ofOne.map(({ fact }) => fact);
      pendingSignals.push(
        ...(await insert(trx, businessId, await concernedBy(trx, businessId, facts))),
      );
    }
    noted(pendingSignals);
    return result;
  } finally {
    written.delete(trx);
  }
}

async function insert(
  trx: Transaction<Tables>,
  businessId: string,
  workflowIds: ReadonlySet<string>,
): Promise<PendingSignal[]> {
  if (workflowIds.size === 0) return [];
  const atMs = await databaseNowMs(trx);
  const pendingSignals = [...workflowIds].map((workflowId) => ({
    signalId: `signal_${randomUUID()}`,
    workflowId,
  }));
  for (const some of chunks(pendingSignals)) {
    await trx
      .insertInto("pending_signals")
      .values(some.map((one) => asColumns({ ...one, businessId, atMs })))
      .execute();
  }
  return pendingSignals;
}

/** Returns the oldest pending signals, with their age. */
export async function oldestPendingSignals(
  db: Db,
  limit: number,
): Promise<(PendingSignal & { readonly ageMs: number })[]> {
  const rows = await db
    .selectFrom("pending_signals")
    .select(["signal_id", "workflow_id", "at_ms"])
    .orderBy("at_ms")
    .limit(limit)
    .execute();
  if (rows.length === 0) return [];
  const nowMs = await databaseNowMs(db);
  return rows
    .map(readerOf("pending_signals"))
    .map(({ atMs, ...of }) => ({ ...of, ageMs: nowMs - atMs }));
}

export async function deletePendingSignals(
  db: Db,
  pendingSignals: readonly PendingSignal[],
): Promise<void> {
  if (pendingSignals.length === 0) return;
  await db
    .deleteFrom("pending_signals")
    .where("signal_id", "in", idsIn(pendingSignals.map(({ signalId }) => signalId)))
    .execute();
}
