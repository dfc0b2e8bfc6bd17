import type { Transaction } from "kysely";
import { ENDED_PHASES } from "../contracts/pay-run.ts";
import { holdOn } from "../domain/holds.ts";
import { isRejected } from "../store/decisions.ts";
import { activeHolds } from "../store/holds.ts";
import { getIncident } from "../store/incidents.ts";
import { getRun } from "../store/runs.ts";
import type { Tables } from "../store/tables.ts";
import { topUpApproved } from "../store/top-up-approvals.ts";
import type { TopUp } from "../store/top-ups.ts";
import type { Wish } from "./facts.ts";
import { type Closed, closedFor, type GateRequest } from "./gate.ts";

/** Which deposits are to be made. */
export interface DepositCaller {
  /** As they stand in this transaction, by the ledger's subject. */
  readonly topUps: ReadonlyMap<string, TopUp>;
  /** True where a person has accepted the ACH debit authorization. */
  readonly mayDebit: boolean;
}

/**
 * Everything that must hold for deposits to be made (rule 3): the run that asks for them goes on,
 * nothing stops them but the hold that they are to lift, the debit is authorized, and exactly this
 * amount from this account is approved.
 */
export async function mayDeposit(
  trx: Transaction<Tables>,
  { topUps, mayDebit }: DepositCaller,
  requests: readonly (GateRequest & { readonly wish: Wish })[],
  businessMs: number,
): Promise<Map<string, Closed>> {
  const closed = new Map<string, Closed>();
  for (const { subject, wish } of requests) {
    const topUp = topUps.get(subject);
    if (topUp === undefined || topUp.hash !== wish.approvedHash) {
      closed.set(subject, closedFor("moved", "another deposit is asked for by now"));
      continue;
    }
    const found =
      (await ownerStopped(trx, topUp)) ??
      (await onHold(trx, topUp, businessMs)) ??
      (mayDebit
        ? null
        : closedFor("no-authorization", "nobody has accepted the ACH debit authorization")) ??
      ((await topUpApproved(trx, topUp, businessMs))
        ? null
        : closedFor("not-approved", "no valid approval of this deposit is stored"));
    if (found !== null) closed.set(subject, found);
  }
  return closed;
}

async function ownerStopped(
  trx: Transaction<Tables>,
  { owner, policyRunId }: TopUp,
): Promise<Closed | null> {
  const run = await getRun(trx, policyRunId);
  if (run === undefined) return closedFor("run-ended", "its run is not in the store");
  // An incident may ask for money after the run whose playbook allows it has ended.
  if (owner !== run.runId) return null;
  if (run.cancelRequestedAtMs !== null) return closedFor("run-cancelled", "the run is cancelled");
  if (await isRejected(trx, owner)) return closedFor("rejected", "the run was rejected");
  return ENDED_PHASES.includes(run.phase) ? closedFor("run-ended", "the run has ended") : null;
}

async function onHold(
  trx: Transaction<Tables>,
  { owner, businessId, sourceId, policyRunId }: TopUp,
  businessMs: number,
): Promise<Closed | null> {
  const run = await getRun(trx, policyRunId);
  const incident = await getIncident(trx, businessId, sourceId);
  // The hold of the incident that asks for the money is what the deposit is to lift.
  const own = incident?.workflowId === owner ? incident.holdId : null;
  const holds = await activeHolds(trx, businessId, businessMs);
  const playbook = run?.playbook ?? "";
  const facts = { payableId: "", contactId: "", sourceId, runId: owner, playbook };
  const hold = holdOn(
    holds.filter(({ holdId }) => holdId !== own),
    facts,
  );
  return hold === undefined ? null : closedFor("on-hold", `on hold: ${hold.reason}`);
}
