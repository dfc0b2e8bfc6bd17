import { is } from "../sql/is-in.ts";
import type { CancellationState } from "../../contracts/cancellation.ts";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import { type Cancellation, getCancellation } from "./cancellations.ts";
import { CENTS, COUNT, type Db } from "../sql/db.ts";
import { changeRecords, deleteRecords, findAll, findOne } from "../sql/records.ts";

/** One payment to cancel, or one bill that is held back. */
export type CancellationItem = RecordOf<"cancellation_items">;

const toItem = readerOf("cancellation_items");

export type ItemChange = Partial<
  Pick<
    CancellationItem,
    | "paymentId"
    | "amountCents"
    | "state"
    | "open"
    | "reason"
    | "cancelledAtMs"
    | "goesOutAtMs"
    | "notBeforeMs"
    | "pollAtMs"
  >
>;

/** An item as it begins; what has not been done yet may be left out. */
export type NewItem = Omit<CancellationItem, keyof typeof AT_FIRST | "updatedAtMs"> &
  Partial<Pick<CancellationItem, keyof typeof AT_FIRST>>;

const AT_FIRST = {
  releaseByMs: null,
  cancelledAtMs: null,
  goesOutAtMs: null,
  notBeforeMs: 0,
  pollAtMs: 0,
};

export async function insertItem(db: Db, item: NewItem, nowMs: number): Promise<void> {
  await db
    .insertInto("cancellation_items")
    .values(asColumns({ ...AT_FIRST, ...item, updatedAtMs: nowMs }))
    .execute();
}

/** Returns the items of a cancellation, in the order in which they were requested. */
export async function listItems(
  db: Db,
  workflowId: string,
  page?: { readonly offset: number; readonly limit: number },
): Promise<CancellationItem[]> {
  let query = db
    .selectFrom("cancellation_items")
    .selectAll()
    .where("workflow_id", "=", workflowId)
    .orderBy("item_no");
  if (page !== undefined) query = query.limit(page.limit).offset(page.offset);
  return (await query.execute()).map(toItem);
}

/** True while something is still to be done about an item. */
export async function isOpenItem(
  db: Db,
  item: { readonly workflowId: string; readonly itemNo: number },
): Promise<boolean> {
  const { workflowId, itemNo } = item;
  const now = await findOne(db, "cancellation_items", { workflowId, itemNo });
  return now?.open === true;
}

/** Returns when the last item of a cancellation ended; 0 if none has. */
export async function lastEndMs(db: Db, workflowId: string): Promise<number> {
  const row = await db
    .selectFrom("cancellation_items")
    .select((eb) => eb.fn.max("updated_at_ms").as("last"))
    .where("workflow_id", "=", workflowId)
    .where("open", "=", 0)
    .executeTakeFirst();
  return Number(row?.last ?? 0);
}

/** Counts the items in each state, and sums their amounts. */
export async function countItems(
  db: Db,
  workflowId: string,
): Promise<{ state: CancellationState; count: number; cents: number }[]> {
  return db
    .selectFrom("cancellation_items")
    .select(["state", COUNT, CENTS])
    .where("workflow_id", "=", workflowId)
    .groupBy("state")
    .orderBy("state")
    .execute();
}

/** Returns the items that cancellations have had for a bill. */
export async function cancellationsOfPayable(
  db: Db,
  businessId: string,
  payableId: string,
): Promise<CancellationItem[]> {
  return findAll(db, "cancellation_items", { businessId, payableId }, ["updated_at_ms"]);
}

/**
 * Changes an item that is still open.
 *
 * @returns false if it has ended: a late result of another process changes nothing
 */
export async function changeItem(
  db: Db,
  item: { readonly workflowId: string; readonly itemNo: number },
  change: ItemChange,
  nowMs: number,
): Promise<boolean> {
  const { workflowId, itemNo } = item;
  const open = { workflowId, itemNo, open: true };
  const changed = { ...change, updatedAtMs: nowMs };
  return (await changeRecords(db, "cancellation_items", open, changed)) > 0;
}

/** Deletes an open item of a bill whose payments all have items of their own. */
export async function dropItem(
  db: Db,
  item: { readonly workflowId: string; readonly itemNo: number },
): Promise<void> {
  const { workflowId, itemNo } = item;
  const bill = { workflowId, itemNo, open: true, paymentId: null };
  await deleteRecords(db, "cancellation_items", bill);
}

/**
 * Returns the bill that a hold is on for a cancellation, with the cancellation, which says who
 * may release it; undefined if there is none.
 *
 * A bill for which a request may have been under way when it was put on hold is held back as well.
 * A bill that was put on hold for a cancel is not, whatever came of its payment.
 */
export async function withheldBy(
  db: Db,
  holdId: string,
): Promise<{ readonly item: CancellationItem; readonly cancellation: Cancellation } | undefined> {
  const row = await db
    .selectFrom("cancellation_items")
    .innerJoin("cancellations", "cancellations.workflow_id", "cancellation_items.workflow_id")
    .selectAll("cancellation_items")
    .where("cancellation_items.hold_id", "=", holdId)
    .where("cancellations.run_id", "is not", null)
    .where("cancellation_items.payment_id", "is", null)
    .where("cancellation_items.state", "in", ["withheld", "unknown"])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const cancellation = await getCancellation(db, row.workflow_id);
  return cancellation === undefined ? undefined : { item: toItem(row), cancellation };
}

/** Returns the bills that a playbook holds back now. */
export async function withheldPayables(
  db: Db,
  businessId: string,
  playbook: string,
): Promise<Set<string>> {
  const rows = await db
    .selectFrom("cancellation_items")
    .innerJoin("cancellations", "cancellations.workflow_id", "cancellation_items.workflow_id")
    .select("cancellation_items.payable_id")
    .where("cancellation_items.business_id", "=", businessId)
    .where("cancellations.playbook", "=", playbook)
    .where(is("cancellation_items.state", "withheld"))
    .execute();
  return new Set(rows.flatMap(({ payable_id: id }) => id ?? []));
}

/** Records that a person has released bills for which nothing was sent, even after their time. */
export async function releaseWithheld(
  db: Db,
  holdId: string,
  by: string,
  nowMs: number,
): Promise<void> {
  await db
    .updateTable("cancellation_items")
    .set({ state: "released", open: 0, reason: `Released by ${by}.`, updated_at_ms: nowMs })
    .where("hold_id", "=", holdId)
    .where(is("state", "withheld"))
    .execute();
}
