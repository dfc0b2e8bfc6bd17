import type { FailedStep } from "../src/contracts/activities.ts";
import { appendAudit } from "../src/store/audit.ts";
import { getIncidentByWorkflowId } from "../src/store/incidents.ts";
import { raiseNotice } from "../src/store/notices.ts";
import { getRun } from "../src/store/runs.ts";
import type { ActivityContext } from "./context.ts";

/**
 * Tells operators, once for each reason, that a step of a workflow has failed again and again. The
 * workflow goes on: what it was about stays where the store says that it is.
 */
export async function tellTrouble(
  { store, log }: ActivityContext,
  { owner, step, reason }: FailedStep,
): Promise<void> {
  const nowMs = Date.now();
  const { db } = store;
  const of = (await getRun(db, owner)) ?? (await getIncidentByWorkflowId(db, owner));
  log.warn("a step has failed again and again", { owner, step, reason });
  if (of === undefined) return;
  const { businessId } = of;
  await store.transactionOf(businessId, async (trx) => {
    const isNews = await raiseNotice(trx, {
      businessId,
      kind: "step-failed",
      factKey: `${owner}/${step}/${reason}`,
      subject: `${step} of ${owner} has failed`,
      text: [
        `${step} has failed several times: ${reason}`,
        "It is tried on; nothing is sent twice. What to do: look at the activity in Temporal and at the worker's log, and see to the cause.",
      ].join("\n"),
      roles: ["operator"],
      data: { step, reason },
      runId: owner,
      nowMs,
    });
    if (!isNews) return;
    const details = { step, reason };
    await appendAudit(trx, {
      ...{ businessId, nowMs, actor: owner, action: "step.failed" },
      subject: owner,
      details,
    });
  });
}
