import { isoInstant } from "../../domain/clock/instants.ts";
import { definedOnly } from "../../contracts/defined-only.ts";
import type { LineState } from "../../contracts/line-states.ts";
import type { RunPhase } from "../../contracts/pay-run.ts";
import type { RunStatus } from "../../api/runs.ts";
import { ASKING_PHASE } from "../../domain/asking-phases.ts";
import { centsInState } from "../../domain/payments/line-parts.ts";
import { personWaitedFor } from "../../domain/runs/shown-phase.ts";
import { startedBy } from "../../store/events/event-starts.ts";
import type { Db } from "../../store/index.ts";
import { approvalsOf } from "../../store/approvals/line-approvals.ts";
import { getRunLine } from "../../store/lines/lines.ts";
import { getPlanLine } from "../../store/lines/plan-lines.ts";
import { getRetryByWorkflowId, type Retry } from "../../store/retries/retries.ts";
import { getRun, type Run } from "../../store/runs/runs.ts";
import type { Stand } from "../../store/runs/run-stand.ts";
import type { ActionContext } from "../../actions/context.ts";
import { momentOf } from "../moment.ts";
import { markStanding } from "./given-back.ts";
import { paymentStatus } from "./payment.ts";

/** The phases of a retry in the words of a run's phases. */
const PHASES: Readonly<Record<string, RunPhase>> = {
  waiting: "settling",
  pay: "paying",
  following: "settling",
  // It continues as soon as a person has decided how: nothing is completed.
  parked: "settling",
};

/**
 * Returns the status of a `retry-failed-payment/…` workflow: one line, that of the bill it owns.
 *
 * @returns undefined if the store knows no such workflow
 */
export async function retryStatus(
  context: Pick<ActionContext, "store" | "profiles" | "clocks">,
  workflowId: string,
): Promise<RunStatus | undefined> {
  const { db } = context.store;
  const retry = await getRetryByWorkflowId(db, workflowId);
  if (retry === undefined) return undefined;
  const events = (await startedBy(db, [workflowId])).get(workflowId);
  const run = retry.runId === null ? undefined : await getRun(db, retry.runId);
  const payment = run === undefined ? undefined : await paymentOfRun(db, run, retry.payableId);
  const state: LineState = payment?.state ?? "retrying";
  const ended: RunPhase = state === "settled" ? "completed" : "completed-with-exceptions";
  return {
    id: workflowId,
    kind: "retry-failed-payment",
    business: retry.business,
    playbook: run?.playbook ?? "",
    period: run?.period ?? "",
    phase: retry.phase === "ended" ? ended : (PHASES[retry.phase] ?? "settling"),
    waitingFor: retry.phase === "ended" ? null : waitingFor(retry),
    launchedAt: isoInstant(retry.startedAtMs),
    endedAt: retry.phase === "ended" ? isoInstant(retry.updatedAtMs) : null,
    ...retryStand(retry),
    counts: { [state]: 1 },
    totalCents: payment === undefined ? 0 : centsInState(payment),
    planHash: run?.planHash ?? null,
    decideBy: null,
    ...(await momentOf(context, retry.business)),
    launchedBy: run?.launchedBy ?? "",
    ...definedOnly({ startedBy: events }),
    payments: payment === undefined ? [] : [payment],
  };
}

/** Says where a failed payment stands. */
export function retryStand({ phase }: Pick<Retry, "phase">): Stand {
  return {
    needsAction: phase === ASKING_PHASE.retryFailedPayment,
    isFinal: phase === "ended",
  };
}

function waitingFor(retry: Retry): string | null {
  if (retry.phase === ASKING_PHASE.retryFailedPayment) return personWaitedFor(retry.reason);
  if (retry.retryOn === null) return retry.reason;
  const when = `next try on ${retry.retryOn}`;
  return retry.reason === null ? when : `${retry.reason} (${when})`;
}

async function paymentOfRun(db: Db, run: Run, payableId: string) {
  const { runId } = run;
  const line = await getRunLine(db, runId, payableId);
  const plan = await getPlanLine(db, runId, payableId);
  if (line === undefined || plan === undefined) return undefined;
  const approvals = await approvalsOf(db, runId, [payableId], 0);
  const payment = paymentStatus({ plan, line }, approvals.get(payableId) ?? []);
  const [marked = payment] = await markStanding(db, run, [payment]);
  return marked;
}
