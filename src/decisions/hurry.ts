import { decisionHurried } from "../domain/facts/decisions.ts";
import { record } from "../store/facts/record.ts";
import type { Transaction } from "kysely";
import { rolesOfRule } from "../domain/approvals/rules.ts";
import { hurryAt } from "../ledger/hurry.ts";
import type { Tables } from "../store/index.ts";
import type { Deciding } from "./deciding.ts";

/**
 * Says how an approval, or a word about accounts, was hurried, as its playbook means it; null if it
 * wasn't. A system that signs is never too fast.
 */
export async function hurryIn(
  trx: Transaction<Tables>,
  { run, request, clock, nowMs, proof }: Deciding,
): Promise<string | null> {
  if (request.decision === "reject" || proof !== undefined) return null;
  return hurryAt(trx, run, { nowMs, businessMs: clock.businessMs, zone: clock.zone });
}

/** Notifies the approvers, and the person whose token it was, of a hurried approval or word. */
export async function notifyOfHurry(
  trx: Transaction<Tables>,
  { run, request, principal, nowMs }: Deciding,
  { decisionId, hurry }: { readonly decisionId: string; readonly hurry: string },
): Promise<void> {
  const { businessId, policy } = run;
  const needsAnother = policy.hurry?.needsAnother === true;
  const isAboutAccounts = request.confirmedRecords !== undefined;
  const roles = policy.approve.flatMap(rolesOfRule);
  const how = { by: principal.name, hurry, needsAnother, isAboutAccounts };
  await record(trx, decisionHurried({ businessId, nowMs }, { run, decisionId, roles, ...how }));
}
