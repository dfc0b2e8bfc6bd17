import { isoInstant } from "../../domain/clock/instants.ts";
import { definedOnly } from "../../contracts/defined-only.ts";
import type { LineState } from "../../contracts/line-states.ts";
import { ENDED_PHASES, type RunPhase } from "../../contracts/pay-run.ts";
import type { RunPaymentStatus, RunStatus, StateSums, WaitingApproval } from "../../api/runs.ts";
import { type BillSum, counted } from "../../domain/counted.ts";
import { onlyPlans, shownState } from "../../domain/plan-only.ts";
import { calledBackText, phaseNow } from "../../domain/runs/after-end.ts";
import { decideByOf } from "../../domain/planning/dates.ts";
import { type ApprovalAsk, askedRoles, askOf } from "../../domain/approvals/asks.ts";
import { rejectionOf } from "../../store/approvals/decisions.ts";
import { firstDateToDecide, waitingBills } from "../../store/approvals/approval-waits.ts";
import type { Db } from "../../store/index.ts";
import { startedBy } from "../../store/events/event-starts.ts";
import { approvalsOf } from "../../store/approvals/line-approvals.ts";
import { countLines } from "../../store/lines/line-counts.ts";
import { countUndelivered } from "../../store/notices/notice-deliveries.ts";
import { getPlan } from "../../store/plans/plans.ts";
import { getPlanLines, listSkipped } from "../../store/lines/plan-lines.ts";
import { getRun, type Run } from "../../store/runs/runs.ts";
import { runStand } from "../../store/runs/run-stand.ts";
import { topUpsOf } from "../../store/deposits/deposits.ts";
import type { ActionContext } from "../../actions/context.ts";
import { businessNowMs, momentAt } from "../moment.ts";
import { givenBackOf, markStanding } from "./given-back.ts";
import { leftOutLine } from "./left-out.ts";
import { paymentStatus } from "./payment.ts";
import { topUpJson } from "./deposit.ts";

type StatusContext = Pick<ActionContext, "store" | "profiles" | "clocks">;

/** Which of a run's bills to show, in plan order; those that the plan left out come last. */
export interface StatusPage {
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  /** False to omit the bills that the plan left out. */
  readonly skipped: boolean;
}

/** The default and the largest page size of an answer. */
export const PAGE_MOST = 10_000;

export const FIRST_PAGE: StatusPage = { page: 1, pageSize: PAGE_MOST, skipped: true };

/**
 * Returns what `status --json` shows, from the store alone, so that it answers while Temporal is
 * down.
 *
 * @returns undefined if the store knows no such pay run
 */
export async function statusOf(
  context: StatusContext,
  id: string,
  page: StatusPage,
): Promise<RunStatus | undefined> {
  const run = await getRun(context.store.db, id);
  if (run === undefined) return undefined;
  const { db } = context.store;
  const head = await runHead(context, run);
  const lineCount = sumOf(head.byState, ({ count }) => count);
  const skippedCount = page.skipped ? (head.plan?.skippedCount ?? 0) : 0;
  const totalCount = lineCount + skippedCount;
  const { offset, limit } = rowsOf(page);
  const lines = await linesOf(context, run, { offset, limit });
  const left =
    skippedCount === 0 || lines.length === limit
      ? []
      : await listSkipped(db, id, {
          offset: Math.max(0, offset - lineCount),
          limit: limit - lines.length,
        });
  const { undeliverable, retrying, unrouted } = await countUndelivered(db, id);
  const undelivered = undeliverable + retrying + unrouted;
  return {
    ...head,
    ...(undelivered === 0 ? {} : { undelivered }),
    ...(await topUpStatuses(context, run)),
    payments: [...lines, ...left.map(leftOutLine)],
    totalCount,
    page: page.page,
    pageSize: page.pageSize,
    nextPage: offset + limit < totalCount ? page.page + 1 : null,
  };
}

function rowsOf({ page, pageSize }: StatusPage): { offset: number; limit: number } {
  return { offset: (page - 1) * pageSize, limit: pageSize };
}

/** Returns the deposits that a run has asked for. */
export async function topUpStatuses(
  context: StatusContext,
  run: Run,
): Promise<Pick<RunStatus, "topUps">> {
  const topUps = await topUpsOf(context.store.db, run.runId);
  if (topUps.length === 0) return {};
  const now = await businessNowMs(context, run.business);
  return {
    topUps: await Promise.all(topUps.map((each) => topUpJson(context.store.db, each, now))),
  };
}

/** Returns what every answer about a run says first. */
export function runFacts(run: Run) {
  return {
    id: run.runId,
    kind: "pay-run" as const,
    business: run.business,
    playbook: run.playbook,
    period: run.period,
    phase: run.phase,
    waitingFor: run.waitingFor,
    planHash: run.planHash,
    launchedBy: run.launchedBy,
    ...(onlyPlans(run.policy) ? { planOnly: true as const } : {}),
  };
}

/** Returns when a run was launched and has ended. */
export function timesOf({ launchedAtMs, endedAtMs }: Pick<Run, "launchedAtMs" | "endedAtMs">) {
  return {
    launchedAt: isoInstant(launchedAtMs),
    endedAt: endedAtMs === null ? null : isoInstant(endedAtMs),
  };
}

/** Returns a run's phase now, and its result if the phase doesn't say it all. */
export function phaseAndOutcome(
  stored: RunPhase,
  byState: StateSums,
): { readonly phase: RunPhase; readonly outcome?: string } {
  const phase = phaseNow(stored, byState);
  const outcome = calledBackText(phase, byState);
  return outcome === undefined ? { phase } : { phase, outcome };
}

/** Does the same, for sums over all bills of a run: then it also says if there are none. */
export function phaseOfAll({ phase }: Pick<Run, "phase">, byState: StateSums) {
  const isEmpty = phase === "completed" && sumOf(byState, ({ count }) => count) === 0;
  const nothingToPay = isEmpty ? (true as const) : undefined;
  return { ...phaseAndOutcome(phase, byState), ...definedOnly({ nothingToPay }) };
}

/** Returns a run's status without its bills. */
export async function runHead(
  context: StatusContext,
  run: Run,
): Promise<Omit<RunStatus, "payments"> & { readonly byState: StateSums }> {
  const { db } = context.store;
  const { runId } = run;
  const events = (await startedBy(db, [runId])).get(runId);
  const plan = (await getPlan(db, runId))?.summary;
  const counts: Partial<Record<LineState, number>> = {};
  const lines = [...(await countLines(db, runId))];
  const byState: StateSums = Object.fromEntries(
    lines.map(([state, sum]) => [shownState(state), sum]),
  );
  for (const [state, sum] of Object.entries(byState)) {
    if (sum.count > 0) counts[state as LineState] = sum.count;
  }
  if (plan !== undefined && plan.skippedCount > 0) counts.skipped = plan.skippedCount;
  const givenBack = await givenBackOf(db, runId, byState);
  const businessMs = await businessNowMs(context, run.business);
  return {
    ...runFacts(run),
    ...phaseOfAll(run, byState),
    ...timesOf(run),
    ...(await runStand(db, runId, businessMs)),
    inputs: run.inputs,
    waitingFor: withParked(run.waitingFor, byState, givenBack),
    counts,
    byState,
    ...givenBack,
    totalCents: run.totalCents,
    decideBy: await deadlineOf(db, run),
    ...momentAt(context, run.business, businessMs),
    ...(await approvalsWaiting(db, run, businessMs)),
    ...(await whoStopped(db, run)),
    ...definedOnly({ startedBy: events, failure: run.failure ?? undefined, plan }),
  };
}

/** Returns who rejected or cancelled the run; empty if nobody did. */
export async function whoStopped(
  db: Db,
  { runId, cancelRequestedBy, cancelRequestedAtMs, cancelReason }: Run,
): Promise<Pick<RunStatus, "rejected" | "cancelled">> {
  const rejection = await rejectionOf(db, runId);
  const ended = (by: string, atMs: number, comment: string | null) => {
    return { by, at: new Date(atMs).toISOString(), comment };
  };
  return {
    ...(rejection === undefined
      ? {}
      : { rejected: ended(rejection.principal, rejection.decidedAtMs, rejection.comment) }),
    ...(cancelRequestedAtMs === null
      ? {}
      : { cancelled: ended(cancelRequestedBy ?? "", cancelRequestedAtMs, cancelReason) }),
  };
}

/**
 * Returns what an open run waits for, with its bills that wait for a person, since people may have
 * acted just now.
 */
export function withParked(
  waitingFor: string | null,
  { parked }: StateSums,
  { givenBack }: { readonly givenBack?: BillSum },
): string | null {
  const bills = (parked?.count ?? 0) - (givenBack?.count ?? 0);
  if (waitingFor === null || bills <= 0) return waitingFor;
  return `${counted(bills, "bill")} waiting for a person, ${waitingFor}`;
}

/** Returns the instant from which a decision changes the dates of a bill that waits for one. */
export async function deadlineOf(db: Db, { runId, phase }: Run): Promise<string | null> {
  if (ENDED_PHASES.includes(phase)) return null;
  const first = await firstDateToDecide(db, runId);
  return first === null ? null : decideByOf(first);
}

/** Returns whom the bills of a run wait for, if any wait. */
async function approvalsWaiting(
  db: Db,
  run: Run,
  businessMs: number,
): Promise<{ readonly approvals?: readonly WaitingApproval[] }> {
  const waiting = await waitingBills(db, { runId: run.runId, businessMs });
  const asks = waiting.flatMap((bills) => askOf(run.policy, bills) ?? []);
  return asks.length === 0 ? {} : { approvals: asks.map(waitingApproval) };
}

function waitingApproval(ask: ApprovalAsk): WaitingApproval {
  const { stage, stages, quorum, given, isHeld, count, cents, escalated, escalatesTo, sinceMs } =
    ask;
  return {
    stage: stage + 1,
    stages,
    by: askedRoles(ask),
    quorum,
    given,
    ...(isHeld ? { onHold: true as const } : {}),
    ...(ask.asksRecord ? { aboutRecord: true as const } : {}),
    lines: count,
    totalCents: cents,
    since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
    escalatesAt: ask.escalateAtMs === null ? null : new Date(ask.escalateAtMs).toISOString(),
    escalatesTo,
    escalated,
  };
}

/** Returns some lines of a run as people see them, in plan order. */
export async function linesOf(
  context: StatusContext,
  run: Run,
  rows: { readonly offset: number; readonly limit: number },
): Promise<RunPaymentStatus[]> {
  const { db } = context.store;
  const lines = await getPlanLines(db, run.runId, { page: rows });
  const ids = lines.map(({ line }) => line.payableId);
  const now = await businessNowMs(context, run.business);
  const approvals = await approvalsOf(db, run.runId, ids, now);
  const payments = lines.map((line) =>
    paymentStatus(line, approvals.get(line.line.payableId) ?? []),
  );
  return markStanding(db, run, payments);
}

/** Adds up a value over the states. */
export function sumOf(
  byState: StateSums,
  read: (sum: { readonly count: number; readonly cents: number }) => number,
): number {
  return Object.values(byState).reduce((total, sum) => total + read(sum), 0);
}
