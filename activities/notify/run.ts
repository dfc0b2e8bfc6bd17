import { planWaits, planWaitsLong } from "../../src/domain/facts/approvals.ts";
import { planHasWarnings, runCompleted, runWaits } from "../../src/domain/facts/runs.ts";
import { record } from "../../src/store/facts/record.ts";
import type { Transaction } from "kysely";
import { MINUTE_MS } from "../../src/contracts/durations.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { Assessment } from "../../src/contracts/activities.ts";
import type { PlanSummary } from "../../src/contracts/pay-run.ts";
import { type ApprovalAsk, askedRoles } from "../../src/domain/approvals/asks.ts";
import { remindFromMs } from "../../src/domain/notices/decide-by.ts";
import { waitForWord, LISTED, type ShownSums } from "../../src/domain/notices/run-texts.ts";
import { onlyPlans } from "../../src/domain/plan-only.ts";
import { plannedMs } from "../../src/domain/planning/dates.ts";
import { untilNextMs } from "../../src/domain/sleeps.ts";
import { launchedByEvents } from "../../src/domain/events/triggers.ts";
import { calledBackText } from "../../src/domain/runs/after-end.ts";
import { isNotified } from "../../src/store/notices/notices.ts";
import { getPlan } from "../../src/store/plans/plans.ts";
import { linesFlagged } from "../../src/store/lines/flagged-lines.ts";
import { askedAgain } from "../../src/store/lines/asked-again.ts";
import { getPlanLines } from "../../src/store/lines/plan-lines.ts";
import { shownSumsOf } from "../../src/store/lines/shown-sums.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import type { BusinessWait } from "../../src/store/runs/waits.ts";
import { notifyOfChangedRecords } from "./changed-records.ts";
import { notifyOfParked } from "./parked-lines.ts";

/** How long a fault of the business lasts before people are notified of it. */
const WAIT_TOLD_AFTER_MS = MINUTE_MS;

/** Waits in which nobody has anything to do: the service asks for a pause. */
const NOBODYS: readonly string[] = ["rate_limited"];

/**
 * Up to this many bills, the approvers of each are read; above it, all the playbook's roles are
 * notified.
 */
const READ_APPROVERS_OF = 500;

interface RunFacts {
  readonly run: Run;
  readonly progress: Assessment;
  readonly counts: ShownSums;
  readonly waits: readonly BusinessWait[];
  readonly clock: ClockReading;
  /** The approvals that the run waits for. */
  readonly asks: readonly ApprovalAsk[];
}

/** A run, or another workflow by its id, that a fault of the whole business keeps waiting. */
interface Waiting extends Pick<RunFacts, "waits" | "clock"> {
  readonly run: Pick<Run, "runId" | "businessId">;
}

/**
 * Raises the notices that a run's state calls for, each fact once, in the transaction that
 * assessed it.
 *
 * @returns real milliseconds until there may be another to raise, if nothing happens before
 */
export async function notifyOfRun(trx: Transaction<Tables>, facts: RunFacts): Promise<number> {
  const { run, counts, clock, progress } = facts;
  const recordsInMs = await notifyOfChangedRecords(trx, run.businessId, clock, progress.ended);
  const waitsInMs = Math.min(recordsInMs, await notifyOfWaits(trx, facts));
  if (run.policy.notify.people === "none") return waitsInMs;
  const approvalsInMs = await notifyOfApprovals(trx, facts);
  const hasParked = (counts.get("parked")?.count ?? 0) > 0;
  const when = { nowMs: clock.realMs, isLast: progress.ended };
  const parkedInMs = hasParked ? await notifyOfParked(trx, run, when) : Infinity;
  if (progress.ended) await notifyOfEnd(trx, facts);
  return Math.min(waitsInMs, approvalsInMs, parkedInMs);
}

/**
 * Notifies approvers of bills that wait for them, and reminds them of the decision.
 *
 * @returns real milliseconds until the reminder is due; `Infinity` if none is
 */
async function notifyOfApprovals(trx: Transaction<Tables>, facts: RunFacts): Promise<number> {
  const { run, counts, clock, asks } = facts;
  const all = counts.get("awaiting-approval");
  if (all === undefined || all.count === 0 || run.planHash === null) return Infinity;
  const words = waitForWord(asks);
  const waiting = { count: all.count - words.count, cents: all.cents - words.cents };
  const fact = { businessId: run.businessId, factKey: `${run.runId}/${run.planHash}` };
  const isNew = !(await isNotified(trx, { ...fact, kind: "approval-needed" }));
  const plan = await getPlan(trx, run.runId);
  const decideBy = plan?.summary.decideBy ?? null;
  const { zone } = clock;
  const head = { businessId: run.businessId, nowMs: clock.realMs };
  const who = async () => ({ run, waiting, words, roles: await approversOf(trx, facts) });
  // Another notice asks for the word.
  if (isNew && waiting.count > 0) {
    const again = await askedAgain(trx, run.runId, LISTED);
    const refused = await linesFlagged(trx, run.runId, { kind: "rejected-before", limit: LISTED });
    const asked = { decideBy, zone, asks, again, refused };
    await record(trx, planWaits(head, { ...(await who()), asked }));
  }
  const plannedAt = plannedMs(run);
  if (decideBy === null || plannedAt === null) return Infinity;
  const decideByMs = Date.parse(decideBy);
  const { businessMs } = clock;
  const remindMs = remindFromMs(plannedAt, decideByMs);
  if (businessMs < remindMs) return untilNextMs([remindMs], clock);
  if (businessMs >= decideByMs) return Infinity;
  if (await isNotified(trx, { ...fact, kind: "decide-by-near" })) return Infinity;
  const asked = { decideBy, zone, asks };
  await record(trx, planWaitsLong(head, { ...(await who()), asked }));
  return Infinity;
}

/** Returns the roles that may approve one of the bills that wait. */
async function approversOf(trx: Transaction<Tables>, { run, asks }: RunFacts): Promise<string[]> {
  if (asks.length > 0) return [...new Set(asks.flatMap(askedRoles))];
  const page = { offset: 0, limit: READ_APPROVERS_OF };
  const states = ["awaiting-approval"] as const;
  const lines = await getPlanLines(trx, run.runId, { states, page });
  return lines.length < READ_APPROVERS_OF
    ? [...new Set(lines.flatMap(({ plan }) => plan.approvers))]
    : [...new Set(run.policy.approve.flatMap(({ by }) => by))];
}

async function notifyOfEnd(trx: Transaction<Tables>, facts: RunFacts): Promise<void> {
  const { run, progress, counts, clock } = facts;
  // An event made the run look at a bill that is not its own: nobody asked for this run.
  const isByEvents =
    run.launchedByKind === "system" && run.launchedBy === launchedByEvents(run.playbook).name;
  if (isByEvents && counts.size === 0) return;
  const { phase, totalCents } = progress;
  const isPlanOnly = onlyPlans(run.policy) && phase === "completed";
  const leftOut = isPlanOnly ? undefined : (await getPlan(trx, run.runId))?.summary.skippedByCode;
  await record(
    trx,
    runCompleted(
      { businessId: run.businessId, nowMs: clock.realMs },
      {
        run,
        phase,
        totalCents,
        sums: counts,
        leftOut,
        wouldPay: isPlanOnly ? { sum: counts.get("skipped") } : undefined,
        shown: await shownSumsOf(trx, run.runId),
        unpaid: calledBackText(phase, Object.fromEntries(counts)),
      },
    ),
  );
}

/**
 * Notifies operators of faults of the whole business, which a person must mend elsewhere.
 *
 * @returns real milliseconds until the next fault has lasted long enough for a notice
 */
export async function notifyOfWaits(trx: Transaction<Tables>, facts: Waiting): Promise<number> {
  let nextInMs = Infinity;
  for (const wait of facts.waits) {
    const { code, sinceMs } = wait;
    if (NOBODYS.includes(code)) continue;
    const leftMs = sinceMs + WAIT_TOLD_AFTER_MS - facts.clock.serviceMs;
    if (leftMs > 0) {
      nextInMs = Math.min(nextInMs, leftMs);
      continue;
    }
    const { businessId, runId } = facts.run;
    await record(trx, runWaits({ businessId, nowMs: facts.clock.realMs }, { runId, wait }));
  }
  return nextInMs;
}

/** Notifies operators of a plan's warnings as a whole, before anyone is asked to approve it. */
export async function notifyOfPlanWarnings(
  trx: Transaction<Tables>,
  run: Run,
  { warnings }: PlanSummary,
  nowMs: number,
): Promise<void> {
  if (warnings === undefined || run.policy.notify.people === "none") return;
  await record(trx, planHasWarnings({ businessId: run.businessId, nowMs }, { run, warnings }));
}
