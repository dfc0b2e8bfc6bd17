import type { LineReason } from "../../src/contracts/reason-codes.ts";
import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { nameOfAuthor, PAYRUN } from "../../src/contracts/authors.ts";
import {
  fundingIncidentId,
  incidentCancellationId,
  WORKFLOW_KINDS,
} from "../../src/contracts/workflow-kinds.ts";
import { cancelOfHeld } from "../../src/domain/cancellations/policy.ts";
import { instantOf } from "../../src/domain/clock/instants.ts";
import { scheduledText } from "../../src/domain/notices/incident-texts.ts";
import { LISTED } from "../../src/domain/notices/run-texts.ts";
import {
  insertCancellation,
  type NewCancellation,
} from "../../src/store/cancellations/cancellations.ts";
import { type Incident, markCallsBack, openIncident } from "../../src/store/incidents/incidents.ts";
import { scheduledFrom } from "../../src/store/incidents/scheduled-from.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { startOrSignal } from "../../src/temporal/start.ts";
import type { ActivityContext } from "./context.ts";

/** What an incident needs to know of the bill whose payment bounced. */
interface Bounced {
  readonly business: string;
  readonly businessId: string;
  readonly line: { readonly sourceId: string };
  readonly clock: ClockReading;
  readonly payments: readonly { readonly status: string; readonly updatedAt: string | null }[];
}

/**
 * Opens the incident of the funding account that a payment bounced from, or joins it.
 *
 * @returns the incident; an ended one if the failure is from before its decision
 */
export async function incidentOfBounce(
  context: ActivityContext,
  bounced: Bounced,
  why: {
    readonly code: LineReason;
    readonly reason: string;
    readonly roles: readonly string[];
    /** True if the playbook's rule cancels what is scheduled from the account. */
    readonly callsBack: boolean;
  },
): Promise<Incident> {
  const { business, businessId, line, clock } = bounced;
  const { sourceId } = line;
  const { callsBack: isCancelled, ...cause } = why;
  const { zone } = context.profileOf(business);
  const { incident, asked } = await context.store.transactionOf(businessId, async (trx) => {
    const opened = await openIncident(trx, {
      businessId,
      business,
      sourceId,
      workflowId: fundingIncidentId(business, sourceId),
      ...cause,
      nowMs: clock.realMs,
      failedAtMs: failedAtMs(bounced),
      scheduledText: async () => {
        const scheduled = await scheduledFrom(trx, { businessId, sourceId }, clock, LISTED);
        return scheduledText(sourceId, scheduled, { isCancelled, zone });
      },
    });
    return { ...opened, asked: isCancelled ? await callBack(trx, opened.incident, clock) : null };
  });
  if (incident.phase !== "ended") {
    await startOrSignal(context.temporal, WORKFLOW_KINDS.fundingIncident, { business, sourceId });
  }
  // If this fails the janitor starts the workflow: its row says that it is wanted.
  if (asked !== null) {
    await startOrSignal(context.temporal, WORKFLOW_KINDS.cancelScheduledPayments, {
      ...asked,
      requestedBy: nameOfAuthor(asked.requestedBy),
    });
  }
  return incident;
}

/**
 * Requests that what the service has scheduled from an account on hold is cancelled, once an
 * incident; null if there is nothing to cancel, or it was requested before.
 */
async function callBack(
  trx: Transaction<Tables>,
  incident: Incident,
  clock: Bounced["clock"],
): Promise<NewCancellation | null> {
  const { businessId, business, sourceId, holdId } = incident;
  if (!(await markCallsBack(trx, incident))) return null;
  const { recallable, underWay } = await scheduledFrom(trx, incident, clock, 0);
  if (recallable.bills + underWay.bills === 0) return null;
  const asked: NewCancellation = {
    workflowId: incidentCancellationId(business, holdId),
    businessId,
    business,
    playbook: "",
    policy: cancelOfHeld({ scope: "source", value: sourceId }, holdId, true),
    runId: null,
    reason: `Payments from ${sourceId} came back (${incident.code})`,
    requestedBy: PAYRUN,
    nowMs: clock.realMs,
  };
  return (await insertCancellation(trx, asked)) ? asked : null;
}

/** Returns when the service noted the failure; now, if the service doesn't say. */
function failedAtMs({ payments, clock }: Bounced): number {
  const times = payments
    .filter(({ status }) => status === "failed" || status === "returned")
    .flatMap(({ updatedAt }) => instantOf(updatedAt) ?? []);
  return times.length === 0 ? clock.businessMs : Math.max(...times);
}
