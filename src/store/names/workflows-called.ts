import { sql } from "kysely";
import type { Db } from "../sql/db.ts";

/** A run of any kind, as people name it. */
export interface CalledWorkflow {
  readonly id: string;
  readonly playbook: string;
  /** Empty if the kind has none. */
  readonly period: string;
  readonly phase: string;
  readonly totalCents: number | null;
  readonly launchedAtMs: number;
}

/** Returns the workflow of a business with this id; retries and incidents too. */
export async function workflowWithId(
  db: Db,
  businessId: string,
  id: string,
): Promise<CalledWorkflow | undefined> {
  const [launched] = await launchedOnes(db, businessId).where("id", "=", id).execute();
  if (launched !== undefined) return calledOf(launched);
  const [other] = await db
    .selectFrom("retries")
    .select(["workflow_id as id", "phase", "started_at_ms as at"])
    .where("business_id", "=", businessId)
    .where("workflow_id", "=", id)
    .unionAll(
      db
        .selectFrom("incidents")
        .select(["workflow_id as id", "phase", "opened_at_ms as at"])
        .where("business_id", "=", businessId)
        .where("workflow_id", "=", id),
    )
    .execute();
  if (other === undefined) return undefined;
  return calledOf({ ...other, playbook: "", period: "", total_cents: null });
}

/** Returns the runs, cancellations and onboardings of a playbook, the newest first. */
export async function workflowsOfPlaybook(
  db: Db,
  businessId: string,
  playbook: string,
  limit: number,
): Promise<CalledWorkflow[]> {
  const rows = await launchedOnes(db, businessId)
    .where(sql<string>`lower(playbook)`, "=", playbook.toLowerCase())
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(calledOf);
}

/** Returns the runs, cancellations and onboardings of a business, the newest first. */
export async function newestWorkflows(
  db: Db,
  businessId: string,
  limit: number,
): Promise<CalledWorkflow[]> {
  const rows = await launchedOnes(db, businessId)
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(calledOf);
}

function launchedOnes(db: Db, businessId: string) {
  const all = db
    .selectFrom("runs")
    .select([
      "run_id as id",
      "playbook",
      "period",
      sql<string>`phase`.as("phase"),
      sql<number | null>`total_cents`.as("total_cents"),
      "launched_at_ms as at",
    ])
    .where("business_id", "=", businessId)
    .unionAll(
      db
        .selectFrom("cancellations")
        .select([
          "workflow_id as id",
          "playbook",
          sql<string>`''`.as("period"),
          sql<string>`phase`.as("phase"),
          sql<number | null>`cast(null as bigint)`.as("total_cents"),
          "requested_at_ms as at",
        ])
        .where("business_id", "=", businessId),
    )
    .unionAll(
      db
        .selectFrom("onboardings")
        .select([
          "workflow_id as id",
          "playbook",
          sql<string>`''`.as("period"),
          sql<string>`phase`.as("phase"),
          sql<number | null>`cast(null as bigint)`.as("total_cents"),
          "launched_at_ms as at",
        ])
        .where("business_id", "=", businessId),
    );
  return db.selectFrom(all.as("launched")).selectAll();
}

function calledOf(row: {
  readonly id: string;
  readonly playbook: string;
  readonly period: string;
  readonly phase: string;
  readonly total_cents: number | null;
  readonly at: number;
}): CalledWorkflow {
  const { total_cents: totalCents, at: launchedAtMs, ...named } = row;
  return { ...named, totalCents, launchedAtMs };
}
