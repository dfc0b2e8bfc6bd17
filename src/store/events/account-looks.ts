import type { Transaction } from "kysely";
import { MINUTE_MS, SECOND_MS } from "../../contracts/durations.ts";
import { doublingMs } from "../../domain/back-off.ts";
import { readerOf, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { changeRecords, deleteRecords, findOne } from "../sql/records.ts";
import type { Tables } from "../schema/tables.ts";

/** A bank account that is to be looked at, because events were about it. */
export type AccountLook = RecordOf<"account_looks">;

/** Asks for a look at a bank account, in the transaction that marks an event as dispatched. */
export async function askForAccountLook(
  trx: Transaction<Tables>,
  account: { readonly businessId: string; readonly accountId: string; readonly nowMs: number },
): Promise<void> {
  const { businessId, accountId, nowMs } = account;
  const first = { asked: 1, looked: 0, due_at_ms: nowMs, tries: 0, removed: 0 };
  await trx
    .insertInto("account_looks")
    .values({ business_id: businessId, account_id: accountId, ...first })
    .onConflict((conflict) =>
      conflict
        .columns(["business_id", "account_id"])
        .doUpdateSet((eb) => ({ asked: eb("account_looks.asked", "+", 1) })),
    )
    .execute();
}

/** Returns the looks that are due, the longest due first. */
export async function dueAccountLooks(
  db: Db,
  nowMs: number,
  limit: number,
): Promise<AccountLook[]> {
  const rows = await db
    .selectFrom("account_looks")
    .selectAll()
    .whereRef("looked", "<", "asked")
    .where("due_at_ms", "<=", nowMs)
    .orderBy("due_at_ms")
    .orderBy("account_id")
    .limit(limit)
    .execute();
  return rows.map(readerOf("account_looks"));
}

/**
 * Records what a look has found. Events that arrived since it began get another one.
 *
 * @returns true if the account was not known as removed, and is now
 */
export async function noteAccountLook(
  trx: Transaction<Tables>,
  { businessId, accountId, asked: looked }: AccountLook,
  removed: boolean,
): Promise<boolean> {
  const account = { businessId, accountId };
  const before = await findOne(trx, "account_looks", account);
  await changeRecords(trx, "account_looks", account, { looked, tries: 0, removed });
  return removed && before?.removed !== true;
}

/** Forgets an account, unless more events were about it meanwhile. */
export async function forgetAccountLook(
  trx: Transaction<Tables>,
  { businessId, accountId, asked }: AccountLook,
): Promise<void> {
  await deleteRecords(trx, "account_looks", { businessId, accountId, asked });
}

const AGAIN_FIRST_MS = 5 * SECOND_MS;
const AGAIN_MOST_MS = 5 * MINUTE_MS;

/** Postpones looks that have failed: each time longer. */
export async function postponeAccountLooks(
  db: Db,
  looks: readonly AccountLook[],
  nowMs: number,
): Promise<void> {
  for (const { businessId, accountId, tries } of looks) {
    const dueAtMs = Math.ceil(nowMs + doublingMs(AGAIN_FIRST_MS, AGAIN_MOST_MS, tries));
    const change = { tries: tries + 1, dueAtMs };
    await changeRecords(db, "account_looks", { businessId, accountId }, change);
  }
}
