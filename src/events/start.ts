import type { BusinessProfile } from "../config/business-profile.ts";
import { retryFailedPaymentId, WORKFLOW_KINDS } from "../contracts/workflow-kinds.ts";
import { newYorkDate } from "../domain/clock/new-york.ts";
import type { LastingTrouble } from "../process/lasting-trouble.ts";
import { getCancellation } from "../store/cancellations/cancellations.ts";
import {
  markStarted,
  type OpenEventStart,
  openEventStarts,
  postponeEventStarts,
} from "../store/events/event-starts.ts";
import { getRun } from "../store/runs/runs.ts";
import type { ActionContext } from "../actions/context.ts";
import type { Messenger } from "./messenger.ts";
import { signalRetry, startWorkflow } from "../actions/temporal.ts";
import { recordStarts } from "./record.ts";

type Starting = Pick<
  ActionContext,
  "store" | "profiles" | "temporal" | "clocks" | "log" | "metrics" | "nowMs"
>;

const AT_ONCE = 500;

/** Pause before another try at a start that failed for a reason other than Temporal. */
const TROUBLE_MS = 60_000;

/**
 * Starts what recorded events ask for: first writes a row, in one transaction with the mark that
 * the event has started it, then starts the workflow under the row's id with USE_EXISTING. So each
 * is started once, whatever dies between the two, and however many gateways do this.
 *
 * @returns how much was to be started, and how much of that is left for later because of Temporal
 */
export async function startByEvents(
  context: Starting,
  messenger: Messenger,
  trouble: LastingTrouble,
): Promise<{ readonly seen: number; readonly failed: number }> {
  const open = await openEventStarts(context.store.db, context.nowMs(), AT_ONCE);
  // What is recorded already is only started; otherwise, what starts together is recorded together.
  const groups = Map.groupBy(open, ({ businessId, playbook, target, workflowId }) =>
    JSON.stringify([businessId, playbook, target, workflowId]),
  );
  let failed = 0;
  for (const group of groups.values()) {
    const { businessId = "", playbook = "" } = group[0] ?? {};
    const repeating = { businessId, step: `Starting ${playbook} for an event of the service` };
    try {
      if (!(await startGroup(context, messenger, group))) failed += group.length;
      trouble.over(repeating);
    } catch (error) {
      await trouble.failed(repeating, error);
      await postponeEventStarts(context.store.db, group, context.nowMs() + TROUBLE_MS);
    }
  }
  return { seen: open.length, failed };
}

/** @returns false if Temporal can't be reached now */
async function startGroup(
  context: Starting,
  messenger: Messenger,
  group: readonly OpenEventStart[],
): Promise<boolean> {
  const [first] = group;
  if (first === undefined) return true;
  const profile = context.profiles.byBusinessId(first.businessId);
  if (profile === undefined) throw new Error("no profile has its business");
  const ids =
    first.workflowId === null ? await record(context, profile, group) : [first.workflowId];
  let ok = true;
  for (const workflowId of ids) {
    const outcome = await messenger.send(async () => {
      await start(context, profile, workflowId);
      return true;
    });
    if (outcome === "sent") await markStarted(context.store.db, profile.businessId, workflowId);
    else ok = false;
  }
  return ok;
}

async function record(
  { store, clocks, nowMs }: Starting,
  profile: BusinessProfile,
  group: readonly OpenEventStart[],
): Promise<string[]> {
  const { businessMs } = await clocks.read(profile);
  const at = { date: newYorkDate(businessMs), nowMs: nowMs() };
  return store.transactionOf(profile.businessId, (trx) => recordStarts(trx, profile, group, at));
}

async function start(
  { store, temporal }: Starting,
  { name: business }: BusinessProfile,
  workflowId: string,
): Promise<void> {
  const run = await getRun(store.db, workflowId);
  if (run !== undefined) return startWorkflow(temporal, WORKFLOW_KINDS.payRun, run);
  const cancellation = await getCancellation(store.db, workflowId);
  if (cancellation !== undefined)
    return startWorkflow(temporal, WORKFLOW_KINDS.cancelScheduledPayments, cancellation);
  const payableId = workflowId.slice(retryFailedPaymentId(business, "").length);
  return signalRetry(temporal, business, payableId);
}
