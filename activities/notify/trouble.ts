import { stepFailed, unknownStepFailed } from "../../src/domain/facts/businesses.ts";
import { record } from "../../src/store/facts/record.ts";
import { byWorkflow } from "../../src/contracts/authors.ts";
import { scheduledPayRunId } from "../../src/contracts/workflow-kinds.ts";
import { stepTrouble } from "../../src/domain/step-trouble.ts";
import { showTrouble } from "../../src/store/janitor/show-trouble.ts";
import {
  businessIdInRuns,
  businessIdOfOwner,
  isPlaybook,
} from "../../src/store/runs/few-columns.ts";
import type { ActivityContext } from "../shared/context.ts";

/** A step of a workflow that fails again and again. */
export interface Trouble {
  /** Workflow id. */
  readonly owner: string;
  /** The activity's name. */
  readonly step: string;
  readonly reason: string;
  readonly input: { readonly business?: string; readonly playbook?: string };
  /** When the workflow asked for the step: one notice is sent for each, whatever its tries report. */
  readonly askedAtMs: number;
}

/**
 * Notifies operators that a step of a workflow fails again and again. It is still tried: what it
 * was working on stays as the store says.
 *
 * The step may fail at what it reads, so this reads nothing of a workflow's row but its business.
 * Of a workflow without a row nothing is said but that it fails: its id, and what its step failed
 * at, can be whatever somebody has written to Temporal.
 */
export async function notifyOfTrouble(context: ActivityContext, trouble: Trouble): Promise<void> {
  const { store, log } = context;
  const { step, askedAtMs } = trouble;
  const nowMs = Date.now();
  log.warn("a step has failed again and again", { ...trouble });
  const known = await inStore(context, trouble);
  const businessId = known?.businessId ?? (await businessIdOf(context, trouble));
  if (businessId === undefined) return;
  await store.transactionOf(businessId, async (trx) => {
    if (known === undefined) {
      const day = new Date(nowMs).toISOString().slice(0, 10);
      await record(trx, unknownStepFailed({ businessId, nowMs }, { step, day }));
      return;
    }
    const { owner: subject } = known;
    const { reason } = trouble;
    const head = { businessId, nowMs, by: byWorkflow(subject), subject };
    await record(trx, stepFailed(head, { step, reason }, { askedAtMs }));
    await showTrouble(trx, subject, stepTrouble(step, reason));
  });
}

/** Returns what the store calls the workflow, and its business; undefined if it knows none. */
async function inStore(
  context: ActivityContext,
  trouble: Trouble,
): Promise<{ readonly owner: string; readonly businessId: string } | undefined> {
  const { db } = context.store;
  const { owner, input } = trouble;
  const ofRow = await businessIdOfOwner(db, owner);
  if (ofRow !== undefined) return { owner, businessId: ofRow };
  const { business = "", playbook = "" } = input;
  const launcher = scheduledPayRunId(business, playbook);
  if (!owner.startsWith(launcher)) return undefined;
  if (!(await isPlaybook(db, { business, name: playbook }))) return undefined;
  const businessId = await businessIdOf(context, trouble);
  return businessId === undefined ? undefined : { owner: launcher, businessId };
}

async function businessIdOf(
  context: ActivityContext,
  { input: { business = "" } }: Trouble,
): Promise<string | undefined> {
  try {
    return context.profileOf(business).businessId;
  } catch {
    // The runs of a business whose profile is gone still name it.
    return businessIdInRuns(context.store.db, business);
  }
}
