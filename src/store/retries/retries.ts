import { wakeUp, wakeWorkflow } from "../../domain/facts/fact.ts";
import { record } from "../facts/record.ts";
import type { Transaction } from "kysely";
import type { LineState } from "../../contracts/line-states.ts";
import { ASKING_PHASE } from "../../domain/asking-phases.ts";
import { centsInState } from "../../domain/payments/line-parts.ts";
import { linesWithParts } from "../payables/line-parts.ts";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { changeRecords, findEach, findOne } from "../sql/records.ts";
import { idsIn } from "../sql/rows-as.ts";
import type { Tables } from "../schema/tables.ts";

/** What the owner of a failed or returned payable knows about it. */
export type Retry = RecordOf<"retries">;

const toRetry = readerOf("retries");

export interface NewRetry {
  readonly businessId: string;
  readonly payableId: string;
  readonly business: string;
  readonly workflowId: string;
  /** Null if no run's line is known. */
  readonly runId: string | null;
  /** Phase of a new record; by default `planning`. */
  readonly phase?: string;
  readonly nowMs: number;
}

/**
 * Creates the record of a payable's retries, or returns the existing one: what was retried and
 * dealt with before still counts. Fills in the run if none was known.
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
  const { nowMs, ...key } = retry;
  const nothing = { retriesMade: 0, handledPaymentIds: [], moneyTaken: false, look: false };
  return asColumns({
    phase: "planning",
    ...key,
    ...nothing,
    requestNo: 0,
    startedAtMs: nowMs,
    updatedAtMs: nowMs,
  });
}

export function getRetry(
  db: Db,
  businessId: string,
  payableId: string,
): Promise<Retry | undefined> {
  return findOne(db, "retries", { businessId, payableId });
}

/** Returns the payments of these payables whose failure their retries have dealt with. */
export async function handledPayments(
  db: Db,
  businessId: string,
  payableIds: readonly string[],
): Promise<Set<string>> {
  const found = await findEach(db, "retries", { businessId }, "payable_id", payableIds);
  return new Set(found.flatMap(({ handledPaymentIds }) => handledPaymentIds));
}

/** Finds a retry by the id of its workflow. */
export function getRetryByWorkflowId(db: Db, workflowId: string): Promise<Retry | undefined> {
  return findOne(db, "retries", { workflowId });
}

export type RetryChange = Partial<
  Pick<
    Retry,
    | "phase"
    | "reasonCode"
    | "reason"
    | "retriesMade"
    | "handledPaymentIds"
    | "retryOn"
    | "approvalEnded"
    | "moneyTaken"
    | "look"
    | "runId"
  >
> & {
  /** Null drops whatever a person has asked for: the bill is paid, or given back. */
  readonly requested?: null;
  /** Number of the last request that has been acted on; a later one stays. */
  readonly actedOn?: number;
};

/** Shows what an open retry waits for. It stays as old as it is: nothing of it has changed. */
export async function showInRetry(db: Db, workflowId: string, reason: string): Promise<void> {
  await db
    .updateTable("retries")
    .set({ reason })
    .where("workflow_id", "=", workflowId)
    .where("phase", "not in", ["ended", "parked"])
    .execute();
}

/** Changes a retry; false if there is none. */
export async function updateRetry(
  db: Db,
  key: { readonly businessId: string; readonly payableId: string },
  change: RetryChange,
  nowMs: number,
): Promise<boolean> {
  const { businessId, payableId } = key;
  const { actedOn, ...others } = change;
  const none = { requested: null, requestedBy: null } as const;
  if (actedOn !== undefined) {
    await changeRecords(db, "retries", { businessId, payableId, requestNo: actedOn }, none);
  }
  const changed = {
    ...others,
    ...(change.requested === undefined ? {} : none),
    updatedAtMs: nowMs,
  };
  return (await changeRecords(db, "retries", { businessId, payableId }, changed)) > 0;
}

/** Clears the flag that asks its owner to look; true if it was set. */
export async function clearLook(
  db: Db,
  key: { readonly businessId: string; readonly payableId: string },
): Promise<boolean> {
  const { businessId, payableId } = key;
  const flagged = { businessId, payableId, look: true };
  return (await changeRecords(db, "retries", flagged, { look: false })) > 0;
}

/** Sets the flag again that `clearLook` has cleared. */
export async function flagLook(
  db: Db,
  key: { readonly businessId: string; readonly payableId: string },
): Promise<void> {
  await changeRecords(db, "retries", key, { look: true });
}

/** A failed or returned payable whose owner waits for a person. */
export interface ParkedRetry extends Retry {
  /** Playbook of the run that paid it; empty if none is known. */
  readonly playbook: string;
  readonly period: string;
  /** How much of the bill is open. */
  readonly openCents: number;
}

/** Returns those of these retries that wait for a person. */
export async function listParkedRetries(
  db: Db,
  workflowIds: readonly string[],
): Promise<ParkedRetry[]> {
  const rows = await db
    .selectFrom("retries")
    .leftJoin("runs", "runs.run_id", "retries.run_id")
    .leftJoin("run_lines", (join) =>
      join
        .onRef("run_lines.run_id", "=", "retries.run_id")
        .onRef("run_lines.payable_id", "=", "retries.payable_id"),
    )
    .selectAll("retries")
    .select(["runs.playbook", "runs.period"])
    .select(["run_lines.state", "run_lines.amount_cents", "run_lines.payment_ids"])
    .where("retries.phase", "=", ASKING_PHASE.retryFailedPayment)
    .where("retries.workflow_id", "in", idsIn(workflowIds))
    .execute();
  const parked: ParkedRetry[] = [];
  for (const [owner, ofOne] of Map.groupBy(rows, (row) => row.business_id)) {
    const lines = ofOne.map((row) => ({
      ...toRetry(row),
      playbook: row.playbook ?? "",
      period: row.period ?? "",
      state: (row.state ?? "parked") as LineState,
      amountCents: row.amount_cents ?? 0,
      paymentIds: JSON.parse(row.payment_ids ?? "[]") as string[],
    }));
    const inParts = await linesWithParts(db, owner, lines);
    parked.push(...inParts.map((line) => ({ ...line, openCents: centsInState(line) })));
  }
  return parked;
}

/** Records that a person wants a payable retried, whether or not a retry owns it already. */
export async function requestRetry(
  trx: Transaction<Tables>,
  request: NewRetry & { readonly by: string },
): Promise<Retry> {
  const { by, ...key } = request;
  const asked = { requested: "retry", requested_by: by, look: 1 } as const;
  const { businessId, workflowId } = request;
  await record(trx, wakeUp(businessId, wakeWorkflow(workflowId)));
  const row = await trx
    .insertInto("retries")
    .values({ ...newRow(key), ...asked, request_no: 1 })
    .onConflict((conflict) =>
      conflict.columns(["business_id", "payable_id"]).doUpdateSet((eb) => ({
        ...asked,
        request_no: eb("retries.request_no", "+", 1),
        run_id: eb.fn.coalesce("excluded.run_id", "retries.run_id"),
        // What was known about another run's approval says nothing about this one's.
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
