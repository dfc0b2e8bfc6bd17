import type { DryPlan } from "../contracts/pay-run.ts";
import type { Db } from "./db.ts";

const KEPT_MS = 86_400_000;

/** Keeps a dry plan for whoever asked for it, and forgets those older than a day. */
export async function saveDryPlan(
  db: Db,
  dry: { readonly dryPlanId: string; readonly plan: DryPlan; readonly nowMs: number },
): Promise<void> {
  await db
    .deleteFrom("dry_plans")
    .where("created_at_ms", "<", dry.nowMs - KEPT_MS)
    .execute();
  const plan = JSON.stringify(dry.plan);
  await db
    .insertInto("dry_plans")
    .values({ dry_plan_id: dry.dryPlanId, created_at_ms: dry.nowMs, plan })
    // The activity that plans may run twice; its last word counts.
    .onConflict((conflict) => conflict.column("dry_plan_id").doUpdateSet({ plan }))
    .execute();
}

export async function getDryPlan(db: Db, dryPlanId: string): Promise<DryPlan | undefined> {
  const row = await db
    .selectFrom("dry_plans")
    .select("plan")
    .where("dry_plan_id", "=", dryPlanId)
    .executeTakeFirst();
  return row === undefined ? undefined : (JSON.parse(row.plan) as DryPlan);
}
