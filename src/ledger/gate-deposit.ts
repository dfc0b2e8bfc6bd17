import type { Transaction } from "kysely";
import { holdOn } from "../domain/holds.ts";
import { activeHolds } from "../store/holds/holds.ts";
import { getIncident, type Incident, revokedAuthorizations } from "../store/incidents/incidents.ts";
import { getRun } from "../store/runs/runs.ts";
import type { Tables } from "../store/schema/tables.ts";
import { topUpApproved } from "../store/deposits/deposit-approvals.ts";
import type { TopUp } from "../store/deposits/deposits.ts";
import type { Wish } from "./facts.ts";
import { type Closed, closedFor, type GateReads, type GateRequest } from "./gate.ts";
import { unauthorized } from "./gate-pay.ts";
import { depositForbiddenByTrail } from "./gate-trail.ts";
import { runOnlyPlans, runStopped } from "./run-stopped.ts";

/** The deposits to make. */
export interface DepositCaller {
  /** The deposits as this transaction reads them, by ledger subject. */
  readonly topUps: ReadonlyMap<string, TopUp>;
  /** When a person has accepted the ACH debit authorization: a date or an instant. */
  readonly debitAcceptedAt: string | undefined;
}

/**
 * Checks everything that must hold before deposits are made (rule 3): the run or incident that
 * needs the money is still open, no hold applies except the one that the deposit is to lift, the
 * debit is authorized, and exactly this amount from this account is approved.
 */
export async function mayDeposit(
  trx: Transaction<Tables>,
  { topUps, debitAcceptedAt }: DepositCaller,
  requests: readonly (GateRequest & { readonly wish: Wish })[],
  { businessMs }: Pick<GateReads, "businessMs">,
): Promise<Map<string, Closed>> {
  const closed = new Map<string, Closed>();
  for (const { subject, wish } of requests) {
    const topUp = topUps.get(subject);
    if (topUp === undefined || topUp.hash !== wish.approvedHash) {
      closed.set(subject, closedFor("moved", "another deposit is wanted by now"));
      continue;
    }
    const run = await getRun(trx, topUp.policyRunId);
    // An incident may need money after the run whose playbook allows the deposit has ended.
    const isOfIncident = run !== undefined && run.runId !== topUp.owner;
    const incident = await incidentThatAsks(trx, topUp);
    const found =
      (run === undefined ? null : runOnlyPlans(run)) ??
      (isOfIncident ? decidedAbout(incident) : await runStopped(trx, run, true)) ??
      (await onHold(trx, topUp, { playbook: run?.playbook ?? "", incident, businessMs })) ??
      (await notAuthorized(trx, topUp, debitAcceptedAt)) ??
      ((await topUpApproved(trx, topUp, businessMs))
        ? null
        : closedFor("not_approved", "no valid approval of this deposit is stored"));
    if (found !== null) {
      closed.set(subject, found);
      continue;
    }
    const own = { run, ownHoldId: incident?.holdId };
    const reason = await depositForbiddenByTrail(trx, topUp, own, businessMs);
    if (reason !== null) closed.set(subject, closedFor("trail_differs", reason));
  }
  return closed;
}

async function notAuthorized(
  trx: Transaction<Tables>,
  { businessId, account: { bankAccountId } }: TopUp,
  acceptedAt: string | undefined,
): Promise<Closed | null> {
  const revoked = await revokedAuthorizations(trx, businessId, [bankAccountId]);
  return unauthorized(acceptedAt, revoked.get(bankAccountId));
}

async function incidentThatAsks(
  trx: Transaction<Tables>,
  { owner, businessId, sourceId }: TopUp,
): Promise<Incident | undefined> {
  const incident = await getIncident(trx, businessId, sourceId);
  return incident?.workflowId === owner ? incident : undefined;
}

function decidedAbout(incident: Incident | undefined): Closed | null {
  const isOpen = incident !== undefined && incident.phase !== "ended";
  return isOpen ? null : closedFor("done", "a person has decided about the account");
}

async function onHold(
  trx: Transaction<Tables>,
  { owner, businessId, sourceId, account }: TopUp,
  now: {
    readonly playbook: string;
    readonly incident: Incident | undefined;
    readonly businessMs: number;
  },
): Promise<Closed | null> {
  const { playbook, incident, businessMs } = now;
  // The incident's own hold doesn't count: the deposit is to lift it.
  const own = incident?.holdId;
  const holds = await activeHolds(trx, businessId, businessMs);
  const others = holds.filter(({ holdId }) => holdId !== own);
  const facts = { payableId: "", contactId: "", sourceId, runId: owner, playbook };
  // The bank account that the deposit debits may be on hold as well.
  const hold =
    holdOn(others, facts) ?? holdOn(others, { ...facts, sourceId: account.bankAccountId });
  return hold === undefined ? null : closedFor("on_hold", `on hold: ${hold.reason}`);
}
