import type { Transaction } from "kysely";
import { differenceOf } from "../audit/audit-compare.ts";
import type { Tables } from "../schema/tables.ts";
import type { Db } from "../sql/db.ts";
import { type NewRun, recordLaunch, type Run } from "./runs.ts";

/** A stored playbook is not the one that the trail says was put into force. */
export class RulesDifferError extends Error {
  override readonly name = "RulesDifferError";
}

/**
 * Records the launch of a stored playbook.
 *
 * @throws RulesDifferError if its text, rules or author are not what the trail says of it: nothing
 * may be planned by rules that somebody wrote into the store
 */
export async function launchStored(
  trx: Transaction<Tables>,
  launch: NewRun,
): Promise<{ runId: string; created: boolean; run: Run }> {
  const { businessId, business, playbook, playbookRevision } = launch;
  const actions = ["playbook.applied"];
  const key = [playbook, playbookRevision];
  const row = { table: "playbooks", key, subject: playbook, actions } as const;
  const differs = await differenceOf(trx, { businessId, business }, row);
  if (differs !== null) {
    throw new RulesDifferError(
      `Nothing is launched, because “${playbook}” was changed in the store without the audit trail: ${differs} Find out who did that; its text, applied again with any change, puts its rules into force anew.`,
    );
  }
  return recordLaunch(trx, launch);
}

/**
 * Returns how a run is not what the entry of its launch says: its rules, its inputs, or who has
 * launched it. Nothing may be approved or paid of such a run.
 *
 * @returns null if they agree
 */
export function differenceOfRun(
  db: Db,
  { runId, businessId }: Pick<Run, "runId" | "businessId">,
): Promise<string | null> {
  const actions = ["run.launched", "run.cancel-requested"];
  const row = { table: "runs", key: [runId], subject: runId, actions } as const;
  return differenceOf(db, { businessId, business: null }, row);
}
