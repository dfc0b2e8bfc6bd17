import { type Author, byWorkflow, kindOfAuthor, nameOfAuthor } from "../../contracts/authors.ts";
import type { Transaction } from "kysely";
import { MOVING_TOP_UP_STATES } from "../../contracts/deposit.ts";
import type { IncidentDecision } from "../../contracts/incident.ts";
import { debitRefusedBy } from "../../domain/payments/return-codes.ts";
import {
  INCIDENT_DECIDED,
  incidentOpened,
  incidentReopened,
} from "../../domain/facts/incidents.ts";
import { record } from "../facts/record.ts";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { changeRecords, findEach, findOne } from "../sql/records.ts";
import { createHold, type Hold, listHolds, isSetBy, releaseHold } from "../holds/holds.ts";
import type { Tables } from "../schema/tables.ts";

/** A funding account whose payments bounced, on hold for all runs until one person has decided. */
export type Incident = RecordOf<"incidents">;

const toIncident = readerOf("incidents");

export type NewIncident = Pick<
  Incident,
  "businessId" | "sourceId" | "business" | "workflowId" | "code" | "reason" | "roles"
> & {
  readonly nowMs: number;
  /** Business-clock instant of the failure. */
  readonly failedAtMs: number;
  /** Says what the service has scheduled from the account, if a new incident is opened. */
  readonly scheduledText?: () => Promise<string | null>;
};

export function getIncident(
  db: Db,
  businessId: string,
  sourceId: string,
): Promise<Incident | undefined> {
  return findOne(db, "incidents", { businessId, sourceId });
}

/** Finds an incident by the id of its workflow. */
export function getIncidentByWorkflowId(db: Db, workflowId: string): Promise<Incident | undefined> {
  return findOne(db, "incidents", { workflowId });
}

/** Returns the incidents of a business, or of all, latest first. */
export async function listIncidents(db: Db, businessId?: string): Promise<Incident[]> {
  let query = db.selectFrom("incidents").selectAll();
  if (businessId !== undefined) query = query.where("business_id", "=", businessId);
  const rows = await query.orderBy("opened_at_ms", "desc").orderBy("source_id").execute();
  return rows.map(toIncident);
}

/**
 * Returns the incidents of a business that a workflow must be at work on: they are not decided yet,
 * or a deposit is on its way, whatever was decided meanwhile.
 */
export async function incidentsToFollow(db: Db, businessId: string): Promise<Incident[]> {
  const rows = await db
    .selectFrom("incidents")
    .selectAll()
    .where("business_id", "=", businessId)
    .where((eb) =>
      eb.or([
        eb("phase", "!=", "ended"),
        eb.exists(
          eb
            .selectFrom("top_ups")
            .select("top_ups.subject")
            .whereRef("top_ups.business_id", "=", "incidents.business_id")
            .whereRef("top_ups.owner", "=", "incidents.workflow_id")
            .where("top_ups.state", "in", [...MOVING_TOP_UP_STATES]),
        ),
      ]),
    )
    .orderBy("source_id")
    .execute();
  return rows.map(toIncident);
}

/**
 * Opens the incident of a funding account, or joins the one that is open: one hold for all runs and
 * one notice, however many payments bounced. A failure from before the last decision belongs to
 * what was decided, and opens nothing.
 */
export async function openIncident(
  trx: Transaction<Tables>,
  incident: NewIncident,
): Promise<{ readonly incident: Incident; readonly opened: boolean }> {
  const { businessId, sourceId, workflowId, nowMs } = incident;
  const known = await getIncident(trx, businessId, sourceId);
  const revokedAtMs = revokedBy(incident, known);
  if (known !== undefined)
    await changeRecords(trx, "incidents", { businessId, sourceId }, { revokedAtMs });
  if (known !== undefined && known.phase !== "ended") return { incident: known, opened: false };
  if (known !== undefined && incident.failedAtMs <= (known.decidedBusinessMs ?? 0)) {
    return { incident: known, opened: false };
  }
  const round = (known?.round ?? 0) + 1;
  const hold = await createHold(trx, {
    businessId,
    scope: "source",
    value: sourceId,
    // Other payments from it may bounce for other reasons.
    reason: `Payments from this account bounced, the first with: ${incident.reason}`,
    author: byWorkflow(workflowId),
    roles: [...incident.roles, "admin"],
    nowMs,
  });
  const { business, code, reason, roles } = incident;
  const values = asColumns({
    businessId,
    sourceId,
    business,
    workflowId,
    round,
    code,
    reason,
    roles,
    phase: "open" as const,
    holdId: hold.holdId,
    openedAtMs: nowMs,
    decision: null,
    decidedBy: null,
    decidedByKind: null,
    decidedAtMs: null,
    decidedBusinessMs: null,
    revokedAtMs,
    callsBack: false,
  });
  const row = await trx
    .insertInto("incidents")
    .values(values)
    .onConflict((conflict) => conflict.columns(["business_id", "source_id"]).doUpdateSet(values))
    .returningAll()
    .executeTakeFirstOrThrow();
  const scheduled = (await incident.scheduledText?.()) ?? null;
  await record(
    trx,
    incidentOpened(
      { businessId, nowMs, by: byWorkflow(workflowId), subject: sourceId },
      { round, code, holdId: hold.holdId },
      { business, workflowId, reason, roles, scheduled },
    ),
  );
  return { incident: toIncident(row), opened: true };
}

/**
 * Marks a round as one that calls back what is scheduled from its account. Nothing more is
 * scheduled from it after that, so that this is asked once.
 *
 * @returns false if it was marked before, or has ended
 */
export async function markCallsBack(
  trx: Transaction<Tables>,
  { businessId, sourceId, round, phase }: Incident,
): Promise<boolean> {
  if (phase === "ended") return false;
  const unmarked = { businessId, sourceId, round, callsBack: false };
  return (await changeRecords(trx, "incidents", unmarked, { callsBack: true })) > 0;
}

function revokedBy({ code, failedAtMs }: NewIncident, known: Incident | undefined): number | null {
  const before = known?.revokedAtMs ?? null;
  if (debitRefusedBy(code) !== "authorization") return before;
  return Math.max(before ?? 0, Math.floor(failedAtMs));
}

/**
 * Returns when returns have last revoked the debit authorizations of these accounts, those that
 * have.
 */
export async function revokedAuthorizations(
  db: Db,
  businessId: string,
  sourceIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const accounts = await findEach(db, "incidents", { businessId }, "source_id", sourceIds);
  return new Map(
    accounts.flatMap(({ sourceId, revokedAtMs }) =>
      revokedAtMs === null ? [] : [[sourceId, revokedAtMs] as const],
    ),
  );
}

/**
 * Records the one decision about an incident. `released` and a finished top-up release the hold;
 * with `other-source` it stays, and a person releases it.
 *
 * @returns false if nothing is open
 */
export async function decideIncident(
  trx: Transaction<Tables>,
  incident: Incident,
  decision: {
    readonly decision: IncidentDecision;
    readonly by: Author;
    readonly reason: string;
    readonly nowMs: number;
    readonly businessMs: number;
  },
): Promise<boolean> {
  const { businessId, sourceId } = incident;
  const phase = decision.decision === "top-up" ? "topping-up" : "ended";
  const result = await trx
    .updateTable("incidents")
    .set({
      phase,
      decision: decision.decision,
      decided_by: nameOfAuthor(decision.by),
      decided_by_kind: kindOfAuthor(decision.by),
      decided_at_ms: decision.nowMs,
      decided_business_ms: Math.floor(decision.businessMs),
    })
    .where("business_id", "=", businessId)
    .where("source_id", "=", sourceId)
    .where("round", "=", incident.round)
    .where("phase", "!=", "ended")
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) return false;
  if (decision.decision === "released") {
    await releaseHolds(trx, incident, decision);
  }
  const { by, reason, nowMs } = decision;
  const { round, workflowId } = incident;
  const said = INCIDENT_DECIDED[decision.decision];
  const head = { businessId, nowMs, by, subject: sourceId };
  await record(trx, said(head, { round, reason }, { workflowId }));
  return true;
}

/** Releases the holds on the account, including those that an earlier round has left. */
async function releaseHolds(
  trx: Transaction<Tables>,
  incident: Incident,
  { by, nowMs, businessMs }: { by: Author; nowMs: number; businessMs: number },
): Promise<void> {
  const { businessId } = incident;
  for (const hold of await listHolds(trx, { businessId, active: true, nowMs: businessMs })) {
    if (isHoldOf(incident, hold)) await releaseHold(trx, hold.holdId, by, nowMs);
  }
}

/**
 * True for holds that an incident has set, in this round or an earlier one: releasing the incident
 * releases them.
 */
export function isHoldOf({ workflowId, sourceId }: Incident, hold: Hold): boolean {
  return isSetBy(hold, workflowId) && hold.scope === "source" && hold.value === sourceId;
}

/** Opens an incident for another decision: what was decided has come to nothing. */
export async function reopenIncident(
  trx: Transaction<Tables>,
  incident: Incident,
  nowMs: number,
): Promise<void> {
  const { businessId, sourceId, round, workflowId } = incident;
  const decided = { businessId, sourceId, round, phase: "topping-up" } as const;
  const open = {
    phase: "open",
    decision: null,
    decidedBy: null,
    decidedByKind: null,
    decidedAtMs: null,
  } as const;
  if ((await changeRecords(trx, "incidents", decided, open)) === 0) return;
  const head = { businessId, nowMs, by: byWorkflow(workflowId), subject: sourceId };
  await record(trx, incidentReopened(head, { round }));
}
