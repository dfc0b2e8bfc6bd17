import type { BusinessProfile } from "../config/business-profile.ts";
import { appendAudit } from "../store/audit/audit.ts";
import { openIncidents } from "../store/incidents/incidents.ts";
import { startOrSignalIncident } from "../temporal/start.ts";
import { AUTHOR, type JanitorContext } from "./context.ts";
import { executionOf, mayBeStarting } from "./executions.ts";

/**
 * Gives every incident of a funding account that has lost its workflow a new one, also where a
 * person has ended it in Temporal: its hold is a row of the store, and only a decision or whoever
 * lifts that hold lets money go. Without a workflow nobody would notice either.
 */
export async function followLostIncidents(
  context: JanitorContext,
  profile: BusinessProfile,
  running: ReadonlySet<string>,
): Promise<void> {
  const { businessId } = profile;
  for (const incident of await openIncidents(context.store.db, businessId)) {
    const { workflowId, sourceId, openedAtMs } = incident;
    if (running.has(workflowId)) continue;
    const execution = await executionOf(context.temporal, workflowId);
    if (execution.kind === "running" || mayBeStarting(execution, openedAtMs)) continue;
    await context.store.transactionOf(businessId, (trx) =>
      appendAudit(trx, {
        businessId,
        nowMs: Date.now(),
        actor: AUTHOR,
        action: "incident.follower-started",
        subject: sourceId,
        details: { workflowId, workflow: execution.kind },
      }),
    );
    await startOrSignalIncident(context.temporal, profile.name, sourceId);
    context.log.warn("an incident had lost its workflow and got a new one", {
      workflowId,
      was: execution.kind,
    });
  }
}
