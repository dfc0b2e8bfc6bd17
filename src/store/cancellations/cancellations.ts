import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { changeRecords, findAll, findOne } from "../sql/records.ts";

/** A request to cancel payments, or to hold bills back. */
export type Cancellation = RecordOf<"cancellations">;

export const toCancellation = readerOf("cancellations");

export type NewCancellation = Omit<
  Cancellation,
  "phase" | "waitingFor" | "requestedAtMs" | "chosenAtMs" | "endedAtMs"
> & { readonly nowMs: number };

/** @returns false if there is a cancellation with this id already */
export async function insertCancellation(
  db: Db,
  { nowMs, ...asked }: NewCancellation,
): Promise<boolean> {
  const result = await db
    .insertInto("cancellations")
    .values(asColumns({ ...asked, phase: "choosing" as const, requestedAtMs: nowMs }))
    .onConflict((conflict) => conflict.column("workflow_id").doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export function getCancellation(db: Db, workflowId: string): Promise<Cancellation | undefined> {
  return findOne(db, "cancellations", { workflowId });
}

/** Returns the cancellations of a business that have not ended. */
export async function openCancellations(db: Db, businessId: string): Promise<Cancellation[]> {
  return findAll(db, "cancellations", { businessId, endedAtMs: null }, ["workflow_id"]);
}

export async function changeCancellation(
  db: Db,
  workflowId: string,
  change: Partial<Pick<Cancellation, "phase" | "waitingFor" | "chosenAtMs" | "endedAtMs">>,
): Promise<void> {
  await changeRecords(db, "cancellations", { workflowId }, change);
}

/**
 * Returns the cancellation under way whose id begins like this, which a request joins, or the id of
 * a new one if there is none.
 */
export async function nextCancellation(
  db: Db,
  beginning: string,
): Promise<{ readonly workflowId: string; readonly isUnderWay: boolean }> {
  const made = await cancellationsLike(db, beginning);
  const open = made.find(({ endedAtMs }) => endedAtMs === null);
  if (open !== undefined) return { workflowId: open.workflowId, isUnderWay: true };
  const workflowId = made.length === 0 ? beginning : `${beginning}/r${made.length + 1}`;
  return { workflowId, isUnderWay: false };
}

/**
 * Returns all cancellations whose ids begin like this: requests that are made again are numbered.
 */
export async function cancellationsLike(db: Db, beginning: string): Promise<Cancellation[]> {
  const rows = await db
    .selectFrom("cancellations")
    .selectAll()
    .where((eb) =>
      eb.or([eb("workflow_id", "=", beginning), eb("workflow_id", "like", `${beginning}/r%`)]),
    )
    .orderBy("requested_at_ms")
    .execute();
  // The text may contain characters that are wildcards in such a search.
  return rows
    .filter(
      ({ workflow_id: id }) =>
        id.startsWith(beginning) && NUMBERED.test(id.slice(beginning.length)),
    )
    .map(toCancellation);
}

const NUMBERED = /^(?:\/r\d+)?$/;
