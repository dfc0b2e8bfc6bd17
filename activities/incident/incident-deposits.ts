import { inMarkdown } from "../../src/domain/others-text.ts";
import type { IncidentAssessment } from "../../src/contracts/activities.ts";
import { soonestSleepMs } from "../../src/domain/sleeps.ts";
import type { Db } from "../../src/store/index.ts";
import type { Incident } from "../../src/store/incidents/incidents.ts";
import { reopenIncident } from "../../src/store/incidents/incidents.ts";
import { topUpRunOfIncident } from "../../src/store/incidents/incident-deposits.ts";
import { openTopUpsOf } from "../../src/store/deposits/deposits.ts";
import type { ActivityContext } from "../shared/context.ts";
import { readOrWait } from "../shared/read-or-wait.ts";
import { lookAtArrived } from "../deposit/arrived-deposits.ts";
import type { Needed } from "../deposit/demand.ts";
import { readNeeded } from "../deposit/needed.ts";
import { endTopUp } from "../deposit/record-deposit.ts";
import { reviewTopUp, withdrawTopUp } from "../deposit/review.ts";
import { type DepositsStand, depositsStand } from "../deposit/stand.ts";
import { notifyOfUnread } from "../notify/while-unread.ts";

interface IncidentDeposits extends DepositsStand {
  /** True if a playbook allows a deposit for an open incident. */
  readonly mayTopUp: boolean;
  /**
   * Why the service can't be read now, so that nothing is requested or made; null if it can be
   * read.
   */
  readonly unread: string | null;
}

/**
 * Requests the deposit for the bills that wait for an incident, if the playbook of one of their
 * runs allows it, and returns where it stands. An incident that has ended requests none.
 */
export async function incidentDeposits(
  context: ActivityContext,
  incident: Incident,
): Promise<IncidentDeposits> {
  const { business, businessId, workflowId } = incident;
  const policyRunId =
    incident.phase === "ended" ? undefined : await policyRunOf(context.store.db, incident);
  const asking =
    policyRunId === undefined
      ? undefined
      : await readOrWait(context, incident, () => readForDeposit(context, incident, policyRunId));
  const mayTopUp = policyRunId !== undefined;
  const clock = await context.clockOf(business).readAnew();
  return context.store.transactionOf(businessId, async (trx) => {
    if (incident.phase === "ended") {
      for (const topUp of await openTopUpsOf(trx, workflowId)) {
        await withdrawTopUp(trx, topUp, "The account has been decided about.", clock);
        // The person who decides has looked at the service's list, to which nothing can be added
        // any more.
        if (topUp.reasonCode !== "unclear") continue;
        const by = incident.decidedBy ?? "a person";
        const reason = `Given up by ${by}, who has decided about the account.`;
        await endTopUp(trx, topUp, reason, clock);
      }
    } else if (asking !== undefined) {
      await reviewTopUp(trx, asking, clock);
    }
    const stand = await depositsStand(trx, workflowId, clock);
    // The deposit that was decided on has come to nothing, has another amount by now, or can't be
    // accounted for: people are asked again.
    if (stand.needsAction && incident.phase === "topping-up") {
      await reopenIncident(trx, incident, clock.realMs);
    }
    const waits = await notifyOfUnread(trx, { runId: workflowId, businessId }, clock);
    const wait = waits.find(({ retryAtMs }) => retryAtMs > clock.serviceMs);
    if (wait === undefined) return { ...stand, mayTopUp, unread: null };
    const dueInMs = Math.max(stand.dueInMs ?? 0, wait.retryAtMs - clock.serviceMs);
    return { ...stand, mayTopUp, due: false, dueInMs, unread: wait.message };
  });
}

/**
 * Returns the id of the run whose playbook allows a deposit for the incident; undefined if none
 * does.
 */
async function policyRunOf(db: Db, incident: Incident): Promise<string | undefined> {
  const [open] = await openTopUpsOf(db, incident.workflowId);
  return open?.policyRunId ?? (await topUpRunOfIncident(db, incident));
}

async function readForDeposit(
  context: ActivityContext,
  incident: Incident,
  policyRunId: string,
): Promise<Needed | undefined> {
  const { business, businessId, workflowId: owner, sourceId } = incident;
  await lookAtArrived(context, { owner, business, businessId });
  const needed = await readNeeded(context, { owner, business, policyRunId, sourceId });
  return "closed" in needed ? undefined : needed;
}

/** Adds to an incident's assessment what its deposits wait for. */
export function withDeposits(
  assessment: IncidentAssessment,
  stand: IncidentDeposits,
): IncidentAssessment {
  const { dueInMs, unread, waitingFor } = stand;
  const said = [
    ...(waitingFor === null ? [] : [`Money: ${inMarkdown(waitingFor)}.`]),
    ...(unread === null ? [] : [`The service: ${inMarkdown(unread)}`]),
  ];
  if (said.length === 0) return assessment;
  // While nothing can be read, an earlier look for money would find none.
  const asksMs = unread === null ? assessment.wakeInMs : Infinity;
  return {
    ...assessment,
    details: [assessment.details, ...said].join("\n\n"),
    ...(stand.due ? { toDeposit: true } : {}),
    ...(dueInMs === null ? {} : { wakeInMs: soonestSleepMs(dueInMs, asksMs) }),
  };
}
