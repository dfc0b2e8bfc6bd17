import type { Selectable } from "kysely";
import type { Db } from "./db.ts";
import type { RetriesTable } from "./incident-tables.ts";

/** What the owner of a failed or returned payable knows about it. */
export interface Retry {
  readonly businessId: string;
  readonly payableId: string;
  /** The profile's name. */
  readonly business: string;
  readonly workflowId: string;
  /** Run whose line it took over, or null. */
  readonly runId: string | null;
  readonly phase: string;
  readonly reasonCode: string | null;
  readonly reason: string | null;
  readonly retriesMade: number;
  /** Payments whose failure has been dealt with. */
  readonly handledPaymentIds: readonly string[];
  /** A person's resolution that waits to be acted on. */
  readonly requested: "retry" | null;
  readonly requestedBy: string | null;
  /** `YYYY-MM-DD` on which the next payment is announced to run; null where no day is set. */
  readonly retryOn: string | null;
  /** Why the approval of its line covers no further payment, as far as is known; or null. */
  readonly approvalEnded: string | null;
  readonly look: boolean;
  readonly startedAtMs: number;
  readonly updatedAtMs: number;
}

export interface NewRetry {
  readonly businessId: string;
  readonly payableId: string;
  readonly business: string;
  readonly workflowId: string;
  /** Null where no run's line is known. */
  readonly runId: string | null;
  /** Of a new record; `planning` unless said. */
  readonly phase?: string;
  readonly nowMs: number;
}

/**
 * Makes the record of a payable's retries, or finds the one there is: what was retried and dealt
 * with before still counts. A run is filled in where none was known.
 */
export async function upsertRetry(db: Db, retry: NewRetry): Promise<Retry> {
  const row = await db
    .insertInto("retries")
    .values(newRow(retry))
    .onConflict((conflict) =>
      conflict.columns(["business_id", "payable_id"]).doUpdateSet((eb) => ({
        run_id: eb.fn.coalesce("excluded.run_id", "retries.run_id"),
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  return toRetry(row);
}

function newRow(retry: NewRetry) {
  return {
    business_id: retry.businessId,
    payable_id: retry.payableId,
    business: retry.business,
    workflow_id: retry.workflowId,
    run_id: retry.runId,
    phase: retry.phase ?? "planning",
    retries_made: 0,
    handled_payment_ids: "[]",
    look: 0,
    started_at_ms: retry.nowMs,
    updated_at_ms: retry.nowMs,
  };
}

export async function getRetry(
  db: Db,
  businessId: string,
  payableId: string,
): Promise<Retry | undefined> {
  const row = await db
    .selectFrom("retries")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("payable_id", "=", payableId)
    .executeTakeFirst();
  return row === undefined ? undefined : toRetry(row);
}

/** Finds a retry by the id of its workflow. */
export async function getRetryByWorkflowId(db: Db, workflowId: string): Promise<Retry | undefined> {
  const row = await db
    .selectFrom("retries")
    .selectAll()
    .where("workflow_id", "=", workflowId)
    .executeTakeFirst();
  return row === undefined ? undefined : toRetry(row);
}

export interface RetryChange {
  readonly phase?: string;
  readonly reasonCode?: string | null;
  readonly reason?: string | null;
  readonly retriesMade?: number;
  readonly handledPaymentIds?: readonly string[];
  /** Null says that the person's request has been acted on. */
  readonly requested?: null;
  readonly retryOn?: string | null;
  readonly approvalEnded?: string | null;
  readonly look?: boolean;
  readonly runId?: string;
}

/** Changes a retry; false where there is none. */
export async function updateRetry(
  db: Db,
  key: { readonly businessId: string; readonly payableId: string },
  change: RetryChange,
  nowMs: number,
): Promise<boolean> {
  const result = await db
    .updateTable("retries")
    .set({
      updated_at_ms: nowMs,
      ...(change.phase === undefined ? {} : { phase: change.phase }),
      ...(change.reasonCode === undefined ? {} : { reason_code: change.reasonCode }),
      ...(change.reason === undefined ? {} : { reason: change.reason }),
      ...(change.retriesMade === undefined ? {} : { retries_made: change.retriesMade }),
      ...(change.handledPaymentIds === undefined
        ? {}
        : { handled_payment_ids: JSON.stringify(change.handledPaymentIds) }),
      ...(change.requested === undefined ? {} : { requested: null, requested_by: null }),
      ...(change.retryOn === undefined ? {} : { retry_on: change.retryOn }),
      ...(change.approvalEnded === undefined ? {} : { approval_ended: change.approvalEnded }),
      ...(change.look === undefined ? {} : { look: change.look ? 1 : 0 }),
      ...(change.runId === undefined ? {} : { run_id: change.runId }),
    })
    .where("business_id", "=", key.businessId)
    .where("payable_id", "=", key.payableId)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Clears the flag that asks its owner to look; true where it was set. */
export async function clearLook(
  db: Db,
  key: { readonly businessId: string; readonly payableId: string },
): Promise<boolean> {
  const result = await db
    .updateTable("retries")
    .set({ look: 0 })
    .where("business_id", "=", key.businessId)
    .where("payable_id", "=", key.payableId)
    .where("look", "=", 1)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Retries that took over lines of a run, by payable. */
export async function listRetriesOfRun(db: Db, runId: string): Promise<Retry[]> {
  const rows = await db
    .selectFrom("retries")
    .selectAll()
    .where("run_id", "=", runId)
    .orderBy("payable_id")
    .execute();
  return rows.map(toRetry);
}

/** A failed or returned payable whose owner waits for a person. */
export interface ParkedRetry extends Retry {
  /** Of the run that paid it; empty where none is known. */
  readonly playbook: string;
  readonly period: string;
  readonly amountCents: number;
}

/** Retries that wait for a person, the newest first. */
export async function listParkedRetries(
  db: Db,
  businessId: string | undefined,
  limit: number,
): Promise<ParkedRetry[]> {
  let query = db
    .selectFrom("retries")
    .leftJoin("runs", "runs.run_id", "retries.run_id")
    .leftJoin("run_lines", (join) =>
      join
        .onRef("run_lines.run_id", "=", "retries.run_id")
        .onRef("run_lines.payable_id", "=", "retries.payable_id"),
    )
    .selectAll("retries")
    .select(["runs.playbook", "runs.period", "run_lines.amount_cents"])
    .where("retries.phase", "=", "parked");
  if (businessId !== undefined) query = query.where("retries.business_id", "=", businessId);
  const rows = await query
    .orderBy("retries.started_at_ms", "desc")
    .orderBy("retries.workflow_id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    ...toRetry(row),
    playbook: row.playbook ?? "",
    period: row.period ?? "",
    amountCents: row.amount_cents ?? 0,
  }));
}

/** Writes down that a person wants a payable retried, whether or not a retry owns it already. */
export async function requestRetry(
  db: Db,
  request: NewRetry & { readonly by: string },
): Promise<Retry> {
  const asked = { requested: "retry", requested_by: request.by, look: 1 };
  const row = await db
    .insertInto("retries")
    .values({ ...newRow(request), ...asked })
    .onConflict((conflict) =>
      conflict.columns(["business_id", "payable_id"]).doUpdateSet((eb) => ({
        ...asked,
        run_id: eb.fn.coalesce("excluded.run_id", "retries.run_id"),
        // What was known of another run's approval says nothing of this one's.
        approval_ended: eb
          .case()
          .when("retries.run_id", "=", eb.ref("excluded.run_id"))
          .then(eb.ref("retries.approval_ended"))
          .else(null)
          .end(),
        updated_at_ms: request.nowMs,
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  return toRetry(row);
}

function toRetry(row: Selectable<RetriesTable>): Retry {
  return {
    businessId: row.business_id,
    payableId: row.payable_id,
    business: row.business,
    workflowId: row.workflow_id,
    runId: row.run_id,
    phase: row.phase,
    reasonCode: row.reason_code,
    reason: row.reason,
    retriesMade: row.retries_made,
    handledPaymentIds: JSON.parse(row.handled_payment_ids) as string[],
    requested: row.requested === "retry" ? "retry" : null,
    requestedBy: row.requested_by,
    retryOn: row.retry_on,
    approvalEnded: row.approval_ended,
    look: row.look === 1,
    startedAtMs: row.started_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}
