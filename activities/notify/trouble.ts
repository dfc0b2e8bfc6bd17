import type { FailedStep } from "../../src/contracts/activities.ts";
import { ENDED_PHASES } from "../../src/contracts/pay-run.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import type { Db } from "../../src/store/index.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import {
  businessIdInRuns,
  businessIdOfOwner,
  phaseAlone,
} from "../../src/store/runs/few-columns.ts";
import { setRunPhase } from "../../src/store/runs/runs.ts";
import type { ActivityContext } from "../shared/context.ts";

/** A step that has failed, with what is known of it besides its reason. */
interface Trouble extends FailedStep {
  /** The profile's name, if the step was given one. */
  readonly business?: string | undefined;
  /** The fact that one notice is sent for; each reason of a step by default. */
  readonly factKey?: string;
}

/**
 * Notifies operators, once for each reason, that a step of a workflow has failed again and again.
 * The workflow goes on: what it was working on stays as the store says.
 *
 * The step may fail at what it reads, so this reads nothing of a workflow's row but its business.
 */
export async function notifyOfTrouble(context: ActivityContext, trouble: Trouble): Promise<void> {
  const { store, log } = context;
  const { owner, step, reason, factKey = `${owner}/${step}/${reason}` } = trouble;
  const nowMs = Date.now();
  log.warn("a step has failed again and again", { owner, step, reason });
  const businessId = await businessIdOf(context, trouble);
  if (businessId === undefined) return;
  await store.transactionOf(businessId, async (trx) => {
    const isNews = await raiseNotice(trx, {
      businessId,
      kind: "step-failed",
      factKey,
      subject: `${step} of ${owner} has failed`,
      text: [
        `${step} has failed several times: ${reason}`,
        "It is still being tried; nothing is sent twice. What to do: look at the activity in Temporal and at the worker's log, and fix the cause.",
      ].join("\n"),
      roles: ["operator"],
      data: { step, reason },
      runId: owner,
      nowMs,
    });
    await sayInRun(trx, trouble);
    if (!isNews) return;
    const details = { step, reason };
    await appendAudit(trx, {
      ...{ businessId, nowMs, actor: owner, action: "step.failed" },
      subject: owner,
      details,
    });
  });
}

/** Shows the trouble in the run until the run's next look, which says what it waits for then. */
async function sayInRun(db: Db, { owner, step, reason }: Trouble): Promise<void> {
  const phase = await phaseAlone(db, owner);
  if (phase === undefined || ENDED_PHASES.includes(phase)) return;
  const waitingFor = `a step that fails again and again: ${step}: ${reason}`;
  await setRunPhase(db, owner, { phase, waitingFor });
}

async function businessIdOf(
  context: ActivityContext,
  { owner, business }: Trouble,
): Promise<string | undefined> {
  const { db } = context.store;
  const ofRow = await businessIdOfOwner(db, owner);
  if (ofRow !== undefined) return ofRow;
  const name = business ?? owner.split("/")[1] ?? "";
  try {
    return context.profileOf(name).businessId;
  } catch {
    // The runs of a business whose profile is gone still name it.
    return businessIdInRuns(db, name);
  }
}
