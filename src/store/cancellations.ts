import type { Selectable } from "kysely";
import type { CancellationPhase } from "../contracts/cancellation.ts";
import type { CancellationPolicy } from "../domain/cancellations/policy.ts";
import type { CancellationsTable } from "./cancellation-tables.ts";
import type { Db } from "./db.ts";

/** A request to cancel payments, or to withhold bills. */
export interface Cancellation {
  readonly workflowId: string;
  readonly businessId: string;
  readonly business: string;
  readonly playbook: string;
  readonly policy: CancellationPolicy;
  /** The run whose bills are withheld, or null. */
  readonly runId: string | null;
  readonly reason: string;
  readonly phase: CancellationPhase;
  readonly waitingFor: string | null;
  readonly requestedBy: string;
  readonly requestedAtMs: number;
  readonly chosenAtMs: number | null;
  readonly endedAtMs: number | null;
}

export type NewCancellation = Omit<
  Cancellation,
  "phase" | "waitingFor" | "requestedAtMs" | "chosenAtMs" | "endedAtMs"
> & { readonly nowMs: number };

/** @returns false where a cancellation of this id is there already */
export async function insertCancellation(db: Db, request: NewCancellation): Promise<boolean> {
  const result = await db
    .insertInto("cancellations")
    .values({
      workflow_id: request.workflowId,
      business_id: request.businessId,
      business: request.business,
      playbook: request.playbook,
      policy: JSON.stringify(request.policy),
      run_id: request.runId,
      reason: request.reason,
      phase: "choosing",
      requested_by: request.requestedBy,
      requested_at_ms: request.nowMs,
    })
    .onConflict((conflict) => conflict.column("workflow_id").doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export async function getCancellation(
  db: Db,
  workflowId: string,
): Promise<Cancellation | undefined> {
  const row = await db
    .selectFrom("cancellations")
    .selectAll()
    .where("workflow_id", "=", workflowId)
    .executeTakeFirst();
  return row === undefined ? undefined : toCancellation(row);
}

/** Cancellations of a business that have not ended. */
export async function openCancellations(db: Db, businessId: string): Promise<Cancellation[]> {
  const rows = await db
    .selectFrom("cancellations")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("ended_at_ms", "is", null)
    .orderBy("workflow_id")
    .execute();
  return rows.map(toCancellation);
}

export async function changeCancellation(
  db: Db,
  workflowId: string,
  change: {
    readonly phase?: CancellationPhase;
    readonly waitingFor?: string | null;
    readonly chosenAtMs?: number;
    readonly endedAtMs?: number;
  },
): Promise<void> {
  await db
    .updateTable("cancellations")
    .set({
      workflow_id: workflowId,
      ...(change.phase === undefined ? {} : { phase: change.phase }),
      ...(change.waitingFor === undefined ? {} : { waiting_for: change.waitingFor }),
      ...(change.chosenAtMs === undefined ? {} : { chosen_at_ms: change.chosenAtMs }),
      ...(change.endedAtMs === undefined ? {} : { ended_at_ms: change.endedAtMs }),
    })
    .where("workflow_id", "=", workflowId)
    .execute();
}

/** How often a request of this beginning has been made: its ids are numbered. */
export async function cancellationsLike(db: Db, beginning: string): Promise<Cancellation[]> {
  const rows = await db
    .selectFrom("cancellations")
    .selectAll()
    .where((eb) =>
      eb.or([eb("workflow_id", "=", beginning), eb("workflow_id", "like", `${beginning}/r%`)]),
    )
    .orderBy("requested_at_ms")
    .execute();
  // Names may hold what stands for any letter in such a search.
  return rows
    .filter(
      ({ workflow_id: id }) =>
        id.startsWith(beginning) && NUMBERED.test(id.slice(beginning.length)),
    )
    .map(toCancellation);
}

const NUMBERED = /^(?:\/r\d+)?$/;

export function toCancellation(row: Selectable<CancellationsTable>): Cancellation {
  return {
    workflowId: row.workflow_id,
    businessId: row.business_id,
    business: row.business,
    playbook: row.playbook,
    policy: JSON.parse(row.policy) as CancellationPolicy,
    runId: row.run_id,
    reason: row.reason,
    phase: row.phase as CancellationPhase,
    waitingFor: row.waiting_for,
    requestedBy: row.requested_by,
    requestedAtMs: row.requested_at_ms,
    chosenAtMs: row.chosen_at_ms,
    endedAtMs: row.ended_at_ms,
  };
}
