import type { LineState, RunStatus } from "../contracts/pay-run.ts";
import { approvalsOfRun } from "../store/decisions.ts";
import { countLines } from "../store/lines.ts";
import { getPlan, getPlanLines, listSkipped } from "../store/plans.ts";
import { getRun, type Run } from "../store/runs.ts";
import type { GatewayContext } from "./context.ts";
import { leftOut } from "./left-out.ts";
import { paymentStatus } from "./payment-status.ts";
import { retryStatus } from "./retry-status.ts";

type StatusContext = Pick<GatewayContext, "store" | "profiles" | "clocks">;

/**
 * What `status --json` shows, from the store alone, so that it answers while Temporal is down.
 *
 * @param id a pay run's id or that of a failed payment's workflow
 * @returns undefined where the store knows no such id
 */
export async function statusOf(context: StatusContext, id: string): Promise<RunStatus | undefined> {
  const run = await getRun(context.store.db, id);
  return run === undefined ? retryStatus(context.store.db, id) : runStatus(context, run);
}

async function runStatus(context: StatusContext, run: Run): Promise<RunStatus> {
  const { db } = context.store;
  const { runId } = run;
  const plan = (await getPlan(db, runId))?.summary;
  const counts: Partial<Record<LineState, number>> = {};
  for (const [state, { count }] of await countLines(db, runId)) counts[state] = count;
  if (plan !== undefined && plan.skippedCount > 0) counts.skipped = plan.skippedCount;
  const approvals = await approvalsOfRun(db, runId, await businessNowMs(context, run.business));
  const lines = await getPlanLines(db, runId);
  return {
    id: runId,
    kind: "pay-run",
    business: run.business,
    playbook: run.playbook,
    period: run.period,
    phase: run.phase,
    waitingFor: run.waitingFor,
    counts,
    totalCents: run.totalCents,
    planHash: run.planHash,
    decideBy: plan?.decideBy ?? null,
    launchedBy: run.launchedBy,
    payments: lines.map((line) => paymentStatus(line, approvals.get(line.line.payableId) ?? [])),
    ...(run.failure === null ? {} : { failure: run.failure }),
    ...(plan === undefined ? {} : { plan }),
  };
}

/** The same with the bills that the plan left out as lines of their own, each with its reason. */
export async function withLeftOut(context: StatusContext, status: RunStatus): Promise<RunStatus> {
  if ((status.plan?.skippedCount ?? 0) === 0) return status;
  const skipped = await listSkipped(context.store.db, status.id);
  return { ...status, payments: [...status.payments, ...skipped.map(leftOut)] };
}

/** The business clock, or 0 where it can't be read: then approvals are shown that may have expired. */
async function businessNowMs(context: StatusContext, business: string): Promise<number> {
  const profile = context.profiles.get(business);
  if (profile === undefined) return 0;
  try {
    return (await context.clocks.read(profile)).businessMs;
  } catch {
    return 0;
  }
}
