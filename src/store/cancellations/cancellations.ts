import type { Transaction } from "kysely";
import { type Author, kindOfAuthor, nameOfAuthor } from "../../contracts/authors.ts";
import { namedPayments } from "../../domain/cancellations/policy.ts";
import { jsonHash } from "../audit/audit-said.ts";
import { appendAudit } from "../audit/audit.ts";
import type { Tables } from "../schema/tables.ts";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { changeRecords, findAll, findOne } from "../sql/records.ts";

/** A request to cancel payments, or to hold bills back. */
export type Cancellation = RecordOf<"cancellations">;

/** Action of the trail's entry about a request. */
export const CANCELLATION_REQUESTED = "cancellation.requested";

export const toCancellation = readerOf("cancellations");

export type NewCancellation = Omit<
  Cancellation,
  | "phase"
  | "waitingFor"
  | "requestedBy"
  | "requestedByKind"
  | "requestedAtMs"
  | "chosenAtMs"
  | "endedAtMs"
> & { readonly requestedBy: Author; readonly nowMs: number };

/**
 * Writes a request, with its entry in the trail: the gate lets no cancel go that the trail lacks.
 *
 * @returns false if there is a cancellation with this id already
 */
export async function insertCancellation(
  trx: Transaction<Tables>,
  { nowMs, requestedBy, ...asked }: NewCancellation,
): Promise<boolean> {
  const result = await trx
    .insertInto("cancellations")
    .values(
      asColumns({
        ...asked,
        requestedBy: nameOfAuthor(requestedBy),
        requestedByKind: kindOfAuthor(requestedBy),
        phase: "choosing" as const,
        requestedAtMs: nowMs,
      }),
    )
    .onConflict((conflict) => conflict.column("workflow_id").doNothing())
    .executeTakeFirst();
  if ((result.numInsertedOrUpdatedRows ?? 0n) === 0n) return false;
  const { workflowId, businessId, playbook, runId, reason, policy } = asked;
  const payments = namedPayments(policy);
  await appendAudit(trx, {
    businessId,
    nowMs,
    actor: requestedBy,
    action: CANCELLATION_REQUESTED,
    subject: workflowId,
    details: { playbook, runId, reason, payments, policy: jsonHash(policy) },
  });
  return true;
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
  change: Partial<
    Pick<Cancellation, "phase" | "waitingFor" | "reason" | "chosenAtMs" | "endedAtMs">
  >,
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
): Promise<{ readonly workflowId: string; readonly underWay: Cancellation | undefined }> {
  const made = await cancellationsLike(db, beginning);
  const underWay = made.find(({ endedAtMs }) => endedAtMs === null);
  if (underWay !== undefined) return { workflowId: underWay.workflowId, underWay };
  const workflowId = made.length === 0 ? beginning : `${beginning}/r${made.length + 1}`;
  return { workflowId, underWay };
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
