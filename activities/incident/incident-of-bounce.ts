import { fundingIncidentId, WORKFLOW_KINDS } from "../../src/contracts/workflow-kinds.ts";
import { instantOf } from "../../src/domain/clock/instants.ts";
import { type Incident, openIncident } from "../../src/store/incidents/incidents.ts";
import { startOrSignal } from "../../src/temporal/start.ts";
import type { ActivityContext } from "../shared/context.ts";

/** What an incident needs to know of the bill whose payment bounced. */
interface Bounced {
  readonly business: string;
  readonly businessId: string;
  readonly line: { readonly sourceId: string };
  readonly clock: { readonly realMs: number; readonly businessMs: number };
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
  why: { readonly code: string; readonly reason: string; readonly roles: readonly string[] },
): Promise<Incident> {
  const { business, businessId, line, clock } = bounced;
  const { sourceId } = line;
  const { incident } = await context.store.transactionOf(businessId, (trx) =>
    openIncident(trx, {
      businessId,
      business,
      sourceId,
      workflowId: fundingIncidentId(business, sourceId),
      ...why,
      nowMs: clock.realMs,
      failedAtMs: failedAtMs(bounced),
    }),
  );
  if (incident.phase !== "ended") {
    await startOrSignal(context.temporal, WORKFLOW_KINDS.fundingIncident, { business, sourceId });
  }
  return incident;
}

/** Returns when the service noted the failure; now, if the service doesn't say. */
function failedAtMs({ payments, clock }: Bounced): number {
  const times = payments
    .filter(({ status }) => status === "failed" || status === "returned")
    .flatMap(({ updatedAt }) => instantOf(updatedAt) ?? []);
  return times.length === 0 ? clock.businessMs : Math.max(...times);
}
