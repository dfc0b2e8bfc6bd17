import type { Transaction } from "kysely";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { changeRecords, findOne } from "../sql/records.ts";
import type { Tables } from "../schema/tables.ts";
import { emptyVault } from "./vault.ts";

/** A business's way through KYB. */
export type Onboarding = RecordOf<"onboardings">;

const toOnboarding = readerOf("onboardings");

export interface NewOnboarding extends Pick<
  Onboarding,
  | "businessId"
  | "business"
  | "workflowId"
  | "playbook"
  | "playbookRevision"
  | "policy"
  | "launchedBy"
  | "launchedByTokenId"
> {
  readonly nowMs: number;
}

/**
 * Begins a business's onboarding, or its next round if the last one has ended. If one is under way,
 * joins it; that one keeps its playbook.
 */
export async function recordOnboarding(
  trx: Transaction<Tables>,
  launch: NewOnboarding,
): Promise<{ readonly onboarding: Onboarding; readonly created: boolean }> {
  const known = await getOnboarding(trx, launch.businessId);
  if (known !== undefined && known.endedAtMs === null) return { onboarding: known, created: false };
  const { nowMs, ...asked } = launch;
  const values = asColumns({
    ...asked,
    round: (known?.round ?? 0) + 1,
    phase: "tax",
    waitingFor: null,
    needsAction: false,
    nextSteps: [],
    waitKey: "",
    waitSinceMs: 0,
    waitSinceRealMs: nowMs,
    reminders: 0,
    proposal: null,
    launchedAtMs: nowMs,
    updatedAtMs: nowMs,
    endedAtMs: null,
  });
  const { business_id: _, ...changed } = values;
  const row = await trx
    .insertInto("onboardings")
    .values(values)
    .onConflict((conflict) => conflict.column("business_id").doUpdateSet(changed))
    .returningAll()
    .executeTakeFirstOrThrow();
  return { onboarding: toOnboarding(row), created: true };
}

export function getOnboarding(db: Db, businessId: string): Promise<Onboarding | undefined> {
  return findOne(db, "onboardings", { businessId });
}

export function getOnboardingByWorkflowId(
  db: Db,
  workflowId: string,
): Promise<Onboarding | undefined> {
  return findOne(db, "onboardings", { workflowId });
}

export interface OnboardingChange extends Partial<
  Pick<Onboarding, "phase" | "waitingFor" | "needsAction" | "nextSteps" | "reminders">
> {
  readonly proposal?: string;
  /** Begins another wait. */
  readonly wait?: { readonly key: string; readonly sinceMs: number; readonly sinceRealMs: number };
}

/** Changes an onboarding that is under way; one that has ended stays as it ended. */
export async function updateOnboarding(
  db: Db,
  businessId: string,
  change: OnboardingChange,
  nowMs: number,
): Promise<void> {
  const { wait, ...changed } = change;
  const begun = wait && {
    waitKey: wait.key,
    waitSinceMs: wait.sinceMs,
    waitSinceRealMs: wait.sinceRealMs,
    reminders: 0,
  };
  const open = { businessId, endedAtMs: null };
  await changeRecords(db, "onboardings", open, { ...begun, ...changed, updatedAtMs: nowMs });
}

/**
 * Ends an onboarding, and deletes all personal data that was kept for it.
 *
 * @returns how many values of the vault were deleted
 */
export async function endOnboarding(
  trx: Transaction<Tables>,
  businessId: string,
  nowMs: number,
): Promise<number> {
  const ended = { endedAtMs: nowMs, updatedAtMs: nowMs, needsAction: false };
  await changeRecords(trx, "onboardings", { businessId }, ended);
  await changeRecords(trx, "onboarding_inputs", { businessId }, { vaultRef: null });
  const reason = "The onboarding ended before it was taken; it is forgotten.";
  const waiting = { businessId, state: "waiting" } as const;
  await changeRecords(trx, "onboarding_inputs", waiting, { state: "refused", reason });
  return emptyVault(trx, businessId);
}
