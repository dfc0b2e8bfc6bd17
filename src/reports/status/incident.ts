import { isoInstant } from "../../domain/clock/instants.ts";
import type { IncidentStatus } from "../../api/incidents.ts";
import { definedOnly } from "../../contracts/defined-only.ts";
import { MOVING_TOP_UP_STATES } from "../../contracts/deposit.ts";
import type { LineState } from "../../contracts/line-states.ts";
import { ASKING_PHASE } from "../../domain/asking-phases.ts";
import { incidentCommand } from "../../domain/retries/deciders.ts";
import { incidentCancellationId } from "../../contracts/workflow-kinds.ts";
import { getCancellation } from "../../store/cancellations/cancellations.ts";
import { getIncidentByWorkflowId, type Incident } from "../../store/incidents/incidents.ts";
import { scheduledFrom } from "../../store/incidents/scheduled-from.ts";
import type { Db } from "../../store/index.ts";
import { waitingForIncident } from "../../store/lines/retry-cases.ts";
import { accountCalled } from "../../store/names/account-called.ts";
import { calledBill, namesOf } from "../../store/names/names.ts";
import { type TopUp, topUpsOf } from "../../store/deposits/deposits.ts";
import type { Stand } from "../../store/runs/run-stand.ts";
import type { ActionContext } from "../../actions/context.ts";
import { businessNowMs } from "../moment.ts";
import { topUpJson } from "./deposit.ts";

/**
 * Returns the status of a `funding-incident/…` workflow; undefined if the store knows no such id.
 */
export async function incidentStatus(
  context: Pick<ActionContext, "store" | "profiles" | "clocks">,
  id: string,
): Promise<IncidentStatus | undefined> {
  const { db } = context.store;
  const incident = await getIncidentByWorkflowId(db, id);
  if (incident === undefined) return undefined;
  const deposits = await topUpsOf(db, id);
  const businessMs = deposits.length === 0 ? 0 : await businessNowMs(context, incident.business);
  const payments = await billsOfIncident(db, incident);
  const counts: Partial<Record<LineState, number>> = {};
  for (const { state } of payments) counts[state] = (counts[state] ?? 0) + 1;
  const { business, sourceId, phase, code, reason, roles, holdId, decision, decidedBy } = incident;
  const account = await accountCalled(db, incident.businessId, sourceId);
  return {
    id,
    kind: "funding-incident",
    business,
    source: sourceId,
    account,
    phase,
    waitingFor: incidentWaitsFor(incident, account),
    launchedAt: isoInstant(incident.openedAtMs),
    endedAt: incidentEndedAt(incident),
    ...incidentStand(incident, deposits),
    counts,
    totalCents: payments.reduce((sum, { amountCents }) => sum + amountCents, 0),
    planHash: null,
    code,
    reason,
    roles,
    holdId,
    decision,
    decidedBy,
    topUps: await Promise.all(deposits.map((each) => topUpJson(db, each, businessMs))),
    payments,
    ...definedOnly({ scheduled: await scheduledOf(context, incident) }),
  };
}

/** Most scheduled payments that are named. */
const SCHEDULED_MOST = 100;

/** Returns what the service has scheduled from an account that waits for a decision. */
export async function scheduledOf(
  { store, profiles, clocks }: Pick<ActionContext, "store" | "profiles" | "clocks">,
  incident: Incident,
): Promise<IncidentStatus["scheduled"]> {
  const profile = profiles.get(incident.business);
  if (incident.phase === "ended" || profile === undefined) return undefined;
  const clock = await clocks.read(profile);
  const { recallable, lines } = await scheduledFrom(store.db, incident, clock, SCHEDULED_MOST);
  const { bills, totalCents, earliestCutOffMs } = recallable;
  const cancellationId = incidentCancellationId(incident.business, incident.holdId);
  const cancellation = await getCancellation(store.db, cancellationId);
  const calledBackBy = cancellation?.endedAtMs === null ? cancellationId : undefined;
  return {
    bills,
    totalCents,
    cancelBy: earliestCutOffMs === null ? null : isoInstant(earliestCutOffMs),
    ...definedOnly({ calledBackBy }),
    payments: lines.map(({ plan, line: { payableId, amountCents, executionDate } }) => {
      const { publicId, contactId, contactName } = plan;
      return { payableId, publicId, contactId, contactName, amountCents, executionDate };
    }),
  };
}

/** Returns the bills that wait for the incident's decision, with their names. */
export async function billsOfIncident(
  db: Db,
  incident: Incident,
): Promise<IncidentStatus["payments"]> {
  const bills = await waitingForIncident(db, incident);
  const ids = bills.map(({ payableId }) => payableId);
  const names = await namesOf(db, incident.businessId, "bill", ids);
  return bills.map((bill) => ({ ...bill, ...calledBill(names.get(bill.payableId)) }));
}

export function incidentWaitsFor(
  { phase, roles, sourceId }: Incident,
  account: string,
): string | null {
  if (phase === "open") {
    return `a decision of ${roles.join(" or ")}: ${incidentCommand(sourceId)}`;
  }
  return phase === "topping-up" ? `money in ${account}` : null;
}

/** Says where an incident stands. */
export function incidentStand(
  { phase }: Pick<Incident, "phase">,
  deposits: readonly Pick<TopUp, "state">[],
): Stand {
  const isMoving = deposits.some(({ state }) => MOVING_TOP_UP_STATES.includes(state));
  return {
    needsAction: phase === ASKING_PHASE.fundingIncident,
    isFinal: phase === "ended" && !isMoving,
  };
}

export function incidentEndedAt({ phase, decidedAtMs }: Incident): string | null {
  return phase === "ended" && decidedAtMs !== null ? isoInstant(decidedAtMs) : null;
}
