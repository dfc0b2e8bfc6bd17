import type { IncidentAssessment } from "../../src/contracts/activities.ts";
import type { Incident } from "../../src/store/incidents.ts";
import { reopenIncident } from "../../src/store/incidents.ts";
import { topUpRunOfIncident } from "../../src/store/incident-top-ups.ts";
import { openTopUpsOf } from "../../src/store/top-ups.ts";
import { getRun } from "../../src/store/runs.ts";
import type { ActivityContext } from "../context.ts";
import { depositFrom } from "../top-up/account.ts";
import { lookAtArrived } from "../top-up/arrived-deposits.ts";
import { holdingOf } from "../top-up/demand.ts";
import { incidentDemand } from "../top-up/incident-demand.ts";
import { endTopUp } from "../top-up/record-deposit.ts";
import { reviewTopUp, withdrawTopUp } from "../top-up/review.ts";
import { type DepositsStand, depositsStand } from "../top-up/stand.ts";

/**
 * Asks for the deposit that the bills need which wait for an incident, where the playbook of one of
 * their runs allows one, and says where it stands. An incident that has ended asks for none.
 */
export async function incidentDeposits(
  context: ActivityContext,
  incident: Incident,
): Promise<DepositsStand> {
  const { business, businessId, workflowId } = incident;
  const asking = incident.phase === "ended" ? undefined : await readForDeposit(context, incident);
  const clock = await context.clockOf(business).now();
  return context.store.transactionOf(businessId, async (trx) => {
    if (incident.phase === "ended") {
      for (const topUp of await openTopUpsOf(trx, workflowId)) {
        await withdrawTopUp(trx, topUp, "The account has been decided about.", clock);
        // Whoever decides has looked at the service's list, which nothing can be added to any more.
        if (topUp.reasonCode !== "unclear") continue;
        const by = incident.decidedBy ?? "a person";
        const reason = `Given up by ${by}, who has decided about the account.`;
        await endTopUp(trx, topUp, reason, clock);
      }
    } else if (asking !== undefined) {
      const { policyRun, holding, from } = asking;
      const demand = await incidentDemand(trx, workflowId, policyRun, holding, clock);
      if (demand !== undefined) await reviewTopUp(trx, demand, from, clock);
    }
    const stand = await depositsStand(trx, workflowId, clock);
    // What was decided for has come to nothing, is another amount by now, or nobody can tell what
    // became of it: people are asked again.
    if (stand.needsAction && incident.phase === "topping-up") {
      await reopenIncident(trx, incident, clock.realMs);
    }
    return stand;
  });
}

async function readForDeposit(context: ActivityContext, incident: Incident) {
  const { business, businessId, workflowId, sourceId } = incident;
  const { db } = context.store;
  const [open] = await openTopUpsOf(db, workflowId);
  const runId = open?.policyRunId ?? (await topUpRunOfIncident(db, incident));
  const policyRun = runId === undefined ? undefined : await getRun(db, runId);
  const rule = policyRun?.policy.pay.topUp;
  if (policyRun === undefined || rule === undefined) return undefined;
  const client = context.clientOf(business);
  await lookAtArrived(context, { owner: workflowId, business, businessId });
  const from = await depositFrom(client, context.profileOf(business), rule);
  const readAtMs = Date.now();
  const sources = await client.fundingSources.list();
  const source = sources.find(({ id }) => id === sourceId);
  const holding = holdingOf(source, readAtMs);
  return holding === undefined ? undefined : { policyRun, holding, from };
}

/** What an incident's assessment says of its deposits. */
export function withDeposits(
  assessment: IncidentAssessment,
  stand: DepositsStand,
): IncidentAssessment {
  if (stand.waitingFor === null) return assessment;
  const { dueInMs } = stand;
  return {
    ...assessment,
    details: `${assessment.details}\n\nMoney: ${stand.waitingFor}.`,
    ...(stand.due ? { toDeposit: true } : {}),
    ...(dueInMs === null
      ? {}
      : { wakeInMs: Math.max(250, Math.min(assessment.wakeInMs, dueInMs)) }),
  };
}
