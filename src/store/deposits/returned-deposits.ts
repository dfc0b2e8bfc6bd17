import type { Transaction } from "kysely";
import { depositTakenBack } from "../../domain/notices/top-up-texts.ts";
import { readerOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { raiseNotice } from "../notices/notices.ts";
import type { Tables } from "../schema/tables.ts";
import { moveTopUp, type TopUp, toTopUp } from "./deposits.ts";
import { LINE } from "../../contracts/line-states.ts";

/** Roles that look after the balance, besides those that approve deposits. */
const OPERATORS = ["operator"];

/** Returns the deposits of a business that have arrived since an instant of the business clock. */
export async function arrivedTopUps(db: Db, businessId: string, sinceMs: number): Promise<TopUp[]> {
  const rows = await db
    .selectFrom("top_ups")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("state", "=", "completed")
    .where("transaction_id", "is not", null)
    .where("since_ms", ">", Math.floor(sinceMs))
    .orderBy("subject")
    .execute();
  return rows.map(readerOf("top_ups")).map(toTopUp);
}

/**
 * Records that the bank has taken back a deposit that had arrived, and notifies people of it:
 * nothing is deposited again by itself. Bills that were to be paid with it wait for money again, if
 * nothing was sent for them.
 *
 * @returns false if another process has recorded it
 */
export async function recordReturned(
  trx: Transaction<Tables>,
  topUp: TopUp,
  reason: string,
  clock: { readonly businessMs: number; readonly realMs: number },
): Promise<boolean> {
  const { amountCents, approvers, businessId, owner, sourceId, subject, transactionId } = topUp;
  const note = { action: "returned", transactionId, amountCents, reason } as const;
  const nowMs = clock.realMs;
  const change = { state: "returned", reason, sinceMs: clock.businessMs } as const;
  if (!(await moveTopUp(trx, topUp, ["completed"], change, note, nowMs))) return false;
  await trx
    .updateTable("run_lines")
    .set({ funded: 0 })
    .where("run_id", "=", owner)
    .where("source_id", "=", sourceId)
    .where("state", "in", LINE.holdable)
    .where("funded", "=", 1)
    .execute();
  await raiseNotice(trx, {
    businessId,
    kind: "top-up-returned",
    factKey: subject,
    ...depositTakenBack(topUp, reason),
    roles: [...new Set([...approvers, ...OPERATORS])],
    data: { id: owner, amountCents, transactionId },
    runId: owner,
    nowMs,
  });
  return true;
}
