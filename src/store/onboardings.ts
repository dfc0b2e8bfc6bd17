import type { Selectable, Transaction } from "kysely";
import type { NextStep, OnboardingPhase } from "../contracts/onboarding.ts";
import type { KybOnboardingPlaybook } from "../contracts/playbook.ts";
import type { Db } from "./db.ts";
import type { OnboardingsTable } from "./onboarding-tables.ts";
import type { Tables } from "./tables.ts";
import { emptyVault } from "./vault.ts";

/** A business's way through KYB. */
export interface Onboarding {
  readonly businessId: string;
  /** The profile's name. */
  readonly business: string;
  readonly workflowId: string;
  /** 1, 2, …: one more each time it is launched after its end. */
  readonly round: number;
  readonly playbook: string;
  readonly playbookRevision: number;
  readonly policy: KybOnboardingPlaybook;
  readonly phase: OnboardingPhase;
  readonly waitingFor: string | null;
  readonly needsAction: boolean;
  readonly nextSteps: readonly NextStep[];
  /** Names what is waited for; empty for nothing yet. */
  readonly waitKey: string;
  /** Business-clock instant at which that wait began. */
  readonly waitSinceMs: number;
  /** The same in real time. */
  readonly waitSinceRealMs: number;
  /** How often somebody has been reminded in it. */
  readonly reminders: number;
  /** Text of a first playbook, or null. */
  readonly proposal: string | null;
  readonly launchedBy: string;
  readonly launchedAtMs: number;
  readonly updatedAtMs: number;
  readonly endedAtMs: number | null;
}

export interface NewOnboarding {
  readonly businessId: string;
  readonly business: string;
  readonly workflowId: string;
  readonly playbook: string;
  readonly playbookRevision: number;
  readonly policy: KybOnboardingPlaybook;
  readonly launchedBy: string;
  readonly launchedByTokenId: string | null;
  readonly nowMs: number;
}

/**
 * Begins a business's onboarding, or its next round where the last one has ended; one that is
 * under way is joined and keeps its playbook.
 */
export async function recordOnboarding(
  trx: Transaction<Tables>,
  launch: NewOnboarding,
): Promise<{ readonly onboarding: Onboarding; readonly created: boolean }> {
  const known = await getOnboarding(trx, launch.businessId);
  if (known !== undefined && known.endedAtMs === null) return { onboarding: known, created: false };
  const values = {
    business_id: launch.businessId,
    business: launch.business,
    workflow_id: launch.workflowId,
    round: (known?.round ?? 0) + 1,
    playbook: launch.playbook,
    playbook_revision: launch.playbookRevision,
    policy: JSON.stringify(launch.policy),
    phase: "tax",
    waiting_for: null,
    needs_action: 0,
    next_steps: "[]",
    wait_key: "",
    wait_since_ms: 0,
    wait_since_real_ms: launch.nowMs,
    reminders: 0,
    proposal: null,
    launched_by: launch.launchedBy,
    launched_by_token_id: launch.launchedByTokenId,
    launched_at_ms: launch.nowMs,
    updated_at_ms: launch.nowMs,
    ended_at_ms: null,
  };
  const { business_id: _, ...changed } = values;
  const row = await trx
    .insertInto("onboardings")
    .values(values)
    .onConflict((conflict) => conflict.column("business_id").doUpdateSet(changed))
    .returningAll()
    .executeTakeFirstOrThrow();
  return { onboarding: toOnboarding(row), created: true };
}

export async function getOnboarding(db: Db, businessId: string): Promise<Onboarding | undefined> {
  const row = await db
    .selectFrom("onboardings")
    .selectAll()
    .where("business_id", "=", businessId)
    .executeTakeFirst();
  return row === undefined ? undefined : toOnboarding(row);
}

export async function getOnboardingByWorkflowId(
  db: Db,
  workflowId: string,
): Promise<Onboarding | undefined> {
  const row = await db
    .selectFrom("onboardings")
    .selectAll()
    .where("workflow_id", "=", workflowId)
    .executeTakeFirst();
  return row === undefined ? undefined : toOnboarding(row);
}

/** Every onboarding, the last launched first. */
export async function listOnboardings(
  db: Db,
  filter: { readonly businessId?: string; readonly open?: true } = {},
): Promise<Onboarding[]> {
  let query = db.selectFrom("onboardings").selectAll();
  if (filter.businessId !== undefined) query = query.where("business_id", "=", filter.businessId);
  if (filter.open === true) query = query.where("ended_at_ms", "is", null);
  return (await query.orderBy("launched_at_ms", "desc").execute()).map(toOnboarding);
}

export interface OnboardingChange {
  readonly phase?: OnboardingPhase;
  readonly waitingFor?: string | null;
  readonly needsAction?: boolean;
  readonly nextSteps?: readonly NextStep[];
  /** Begins another wait. */
  readonly wait?: { readonly key: string; readonly sinceMs: number; readonly sinceRealMs: number };
  readonly reminders?: number;
  readonly proposal?: string;
}

/** Changes an onboarding that is under way; one that has ended stays as it ended. */
export async function updateOnboarding(
  db: Db,
  businessId: string,
  change: OnboardingChange,
  nowMs: number,
): Promise<void> {
  await db
    .updateTable("onboardings")
    .set({
      updated_at_ms: nowMs,
      ...(change.phase === undefined ? {} : { phase: change.phase }),
      ...(change.waitingFor === undefined ? {} : { waiting_for: change.waitingFor }),
      ...(change.needsAction === undefined ? {} : { needs_action: change.needsAction ? 1 : 0 }),
      ...(change.nextSteps === undefined ? {} : { next_steps: JSON.stringify(change.nextSteps) }),
      ...(change.wait === undefined
        ? {}
        : {
            wait_key: change.wait.key,
            wait_since_ms: change.wait.sinceMs,
            wait_since_real_ms: change.wait.sinceRealMs,
            reminders: 0,
          }),
      ...(change.reminders === undefined ? {} : { reminders: change.reminders }),
      ...(change.proposal === undefined ? {} : { proposal: change.proposal }),
    })
    .where("business_id", "=", businessId)
    .where("ended_at_ms", "is", null)
    .execute();
}

/**
 * Ends an onboarding, and forgets everything personal that was kept for it.
 *
 * @returns how many values of the vault that were
 */
export async function endOnboarding(
  trx: Transaction<Tables>,
  businessId: string,
  nowMs: number,
): Promise<number> {
  await trx
    .updateTable("onboardings")
    .set({ ended_at_ms: nowMs, updated_at_ms: nowMs, needs_action: 0 })
    .where("business_id", "=", businessId)
    .execute();
  await trx
    .updateTable("onboarding_inputs")
    .set({ vault_ref: null })
    .where("business_id", "=", businessId)
    .execute();
  await trx
    .updateTable("onboarding_inputs")
    .set({ state: "refused", reason: "The onboarding ended before it was taken; it is forgotten." })
    .where("business_id", "=", businessId)
    .where("state", "=", "waiting")
    .execute();
  return emptyVault(trx, businessId);
}

function toOnboarding(row: Selectable<OnboardingsTable>): Onboarding {
  return {
    businessId: row.business_id,
    business: row.business,
    workflowId: row.workflow_id,
    round: row.round,
    playbook: row.playbook,
    playbookRevision: row.playbook_revision,
    policy: JSON.parse(row.policy) as KybOnboardingPlaybook,
    phase: row.phase as OnboardingPhase,
    waitingFor: row.waiting_for,
    needsAction: row.needs_action === 1,
    nextSteps: JSON.parse(row.next_steps) as NextStep[],
    waitKey: row.wait_key,
    waitSinceMs: row.wait_since_ms,
    waitSinceRealMs: row.wait_since_real_ms,
    reminders: row.reminders,
    proposal: row.proposal,
    launchedBy: row.launched_by,
    launchedAtMs: row.launched_at_ms,
    updatedAtMs: row.updated_at_ms,
    endedAtMs: row.ended_at_ms,
  };
}
