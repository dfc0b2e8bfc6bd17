import { RUN_PHASE } from "../../src/domain/facts/runs.ts";
import { record } from "../../src/store/facts/record.ts";
import type { LineReason } from "../../src/contracts/reason-codes.ts";
import { byWorkflow } from "../../src/contracts/authors.ts";
import { DAY_MS } from "../../src/contracts/durations.ts";
import { countForReasons, countLines, sourcesOfRun } from "../../src/store/lines/line-counts.ts";
import type { Transaction } from "kysely";
import type { Assessment } from "../../src/contracts/activities.ts";
import { runPage } from "../../src/contracts/console-pages.ts";
import { LINE, type LineState } from "../../src/contracts/line-states.ts";
import { ENDED_PHASES, type RunPhase } from "../../src/contracts/pay-run.ts";
import { rejectedText } from "../../src/domain/payments/standing.ts";
import { ALARMS } from "../../src/domain/payments/alarms.ts";
import { decideByOf } from "../../src/domain/planning/dates.ts";
import { soonestSleepMs } from "../../src/domain/sleeps.ts";
import { judgeProgress } from "../../src/domain/runs/run-progress.ts";
import { stopsReads } from "../../src/domain/service-waits.ts";
import { CHANGED_RECORD } from "../../src/domain/approvals/changed-records.ts";
import { askOf } from "../../src/domain/approvals/asks.ts";
import { firstDateToDecide, waitingBills } from "../../src/store/approvals/approval-waits.ts";
import { countClaims, releaseEndedClaims } from "../../src/store/payables/claims.ts";
import { hasApproval, isRejected, rejectionOf } from "../../src/store/approvals/decisions.ts";
import { dueLines } from "../../src/store/lines/due-lines.ts";
import { countWaitingForIncidents } from "../../src/store/lines/retry-cases.ts";
import { sumGivenBackIn } from "../../src/store/lines/parked-lines.ts";
import { nextChangesMs } from "../../src/store/lines/next-changes.ts";
import { getRun, setApproveBy, setRunPhase, type Run } from "../../src/store/runs/runs.ts";
import { runStand } from "../../src/store/runs/run-stand.ts";
import { sendsNothingUntilMs } from "../../src/ledger/after-loss.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { openTopUpsOf, unfundedByDate } from "../../src/store/deposits/deposits.ts";
import {
  applyApprovals,
  applyHolds,
  cancelUndecided,
  parkUnapproved,
  type RunMoment,
  wakeWaiting,
} from "../../src/store/lines/undecided-lines.ts";
import { type BusinessWait, listWaits } from "../../src/store/runs/waits.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { askApprovers } from "./ask-approvers.ts";
import type { ActivityContext } from "../shared/context.ts";
import { cameBack, troubledLines } from "../../src/store/lines/troubled-lines.ts";
import { lostRun, unplanned } from "./lost-run.ts";
import { redateLate } from "./redate-late.ts";
import { withdrawTopUp } from "../deposit/review.ts";
import { depositsStand } from "../deposit/stand.ts";
import { notifyOfRun } from "../notify/run.ts";

type RunView = Parameters<typeof judgeProgress>[0] &
  Asked & { readonly waits: readonly BusinessWait[] };

/** The approvals that the run waits for, and until when they can be given. */
type Asked = Required<Pick<Parameters<typeof judgeProgress>[0], "asks" | "decideBy">>;

/**
 * Brings a run's lines up to date with approvals, holds, cancellation and expiry, and returns what
 * there is to do. Reads nothing from the service, so it can run as often as needed.
 */
export async function reviewRun(context: ActivityContext, runId: string): Promise<Assessment> {
  const found = await getRun(context.store.db, runId);
  if (found === undefined) return lostRun(runId);
  const isOpen = found.cancelRequestedAtMs === null && !ENDED_PHASES.includes(found.phase);
  if (found.planHash === null && isOpen) return unplanned(found);
  const clock = await context.clockOf(found.business).now();
  return context.store.transactionOf(found.businessId, async (trx) => {
    const facts = await RunFacts.of(trx, await startDecisionTime(trx, runId, clock), clock);
    const rejected = await isRejected(trx, runId);
    let nextAskMs: number | null = null;
    const { phase: before, cancelRequestedAtMs } = facts.run;
    if (!ENDED_PHASES.includes(before)) {
      if (cancelRequestedAtMs !== null || rejected) {
        await facts.stopLeasing(rejected ? "rejected" : "run_cancelled");
      } else {
        await facts.settleApprovals();
        await wakeWaiting(trx, facts.moment);
        await facts.settleDates();
        nextAskMs = await askApprovers(trx, facts.run, clock);
      }
      await facts.settleDeposits(rejected);
    }
    const view = await facts.view(rejected, nextAskMs);
    const { publicUrl } = context;
    const page = publicUrl === undefined ? undefined : `${publicUrl}${runPage(runId)}`;
    const progress = judgeProgress({ ...view, page });
    const { run } = facts;
    if (!ENDED_PHASES.includes(before)) {
      await setRunPhase(trx, runId, {
        phase: progress.phase,
        waitingFor: progress.waitingFor,
        ...(progress.ended ? { endedAtMs: clock.realMs } : {}),
      });
      if (progress.phase !== before) await notePhase(trx, run, progress.phase, clock);
      const { counts, waits } = view;
      if (progress.ended || (await countClaims(trx, runId)) > mayHold(counts)) {
        await releaseEndedClaims(trx, runId);
      }
      // People are notified of what is on hold once its hold is released.
      const asks = view.asks.filter(({ isHeld }) => !isHeld);
      const about = { run, progress, counts, waits, clock, asks };
      const noticeInMs = await notifyOfRun(trx, about);
      return { ...progress, wakeInMs: soonestSleepMs(progress.wakeInMs, noticeInMs) };
    }
    return progress;
  });
}

/**
 * Returns how many lines may need their claims; the claims of retried lines belong to their
 * retries.
 */
function mayHold(counts: RunView["counts"]): number {
  const open = [...counts].filter(([state]) => state !== "retrying" && !LINE.ended.includes(state));
  return open.reduce((sum, [, { count }]) => sum + count, 0);
}

async function notePhase(
  trx: Transaction<Tables>,
  { businessId, runId, phase: from }: Run,
  to: RunPhase,
  { realMs: nowMs }: ClockReading,
): Promise<void> {
  const head = { businessId, nowMs, by: byWorkflow(runId), subject: runId };
  await record(trx, RUN_PHASE[to](head, { from }));
}

/** Returns the run's row; the time to approve begins with the first look at its plan. */
async function startDecisionTime(
  trx: Transaction<Tables>,
  runId: string,
  clock: ClockReading,
): Promise<Run> {
  const run = await getRun(trx, runId);
  if (run === undefined) throw new Error(`run ${runId} is not in the store`);
  if (run.planHash === null || run.approveByMs !== null) return run;
  const times = {
    plannedAtMs: clock.realMs,
    approveByMs: Math.round(clock.businessMs) + run.policy.approvalValidDays * DAY_MS,
  };
  await setApproveBy(trx, runId, times);
  return { ...run, ...times };
}

class RunFacts {
  readonly moment: RunMoment;
  readonly #trx: Transaction<Tables>;
  #run: Run;
  /** What the business waits for now. */
  readonly #waits: readonly BusinessWait[];
  readonly #clock: ClockReading;

  private constructor(
    trx: Transaction<Tables>,
    run: Run,
    waits: readonly BusinessWait[],
    clock: ClockReading,
  ) {
    this.#trx = trx;
    this.#run = run;
    this.#waits = waits;
    this.#clock = clock;
    const { runId, businessId, playbook } = run;
    const businessMs = Math.floor(clock.businessMs);
    this.moment = { runId, businessId, playbook, businessMs, nowMs: clock.realMs };
  }

  static async of(trx: Transaction<Tables>, run: Run, clock: ClockReading): Promise<RunFacts> {
    const waits = await listWaits(trx, run.businessId);
    const now = waits.filter((wait) => wait.retryAtMs > clock.serviceMs);
    return new RunFacts(trx, run, await ofThisRun(trx, run.runId, now), clock);
  }

  /** The run's row, with the plan that is in force. */
  get run(): Run {
    return this.#run;
  }

  /**
   * Cancels the lines for which nothing was sent; lines whose request may still pay are followed.
   */
  async stopLeasing(code: "rejected" | "run_cancelled"): Promise<void> {
    const rejection = await rejectionOf(this.#trx, this.#run.runId);
    const reason = code === "rejected" && rejection !== undefined ? rejectedText(rejection) : null;
    await cancelUndecided(this.#trx, this.moment, code, reason);
  }

  /** Allows approved lines to be leased, and parks lines that nobody approved in time. */
  async settleApprovals(): Promise<void> {
    await applyHolds(this.#trx, this.moment);
    await applyApprovals(this.#trx, this.moment);
    if (this.#decisionTimeOver()) await parkUnapproved(this.#trx, this.moment);
  }

  /** Asks again, in one new plan, for lines whose date passed before they could be paid. */
  async settleDates(): Promise<void> {
    if (!(await redateLate(this.#trx, this.#run, this.#waits, this.#clock))) return;
    this.#run = (await getRun(this.#trx, this.#run.runId)) ?? this.#run;
  }

  /** Withdraws requests for money that no bill waits for. */
  async settleDeposits(rejected: boolean): Promise<void> {
    const { runId, cancelRequestedAtMs } = this.#run;
    const stopped = rejected || cancelRequestedAtMs !== null;
    for (const topUp of await openTopUpsOf(this.#trx, runId)) {
      if (topUp.state !== "proposed") continue;
      const needs = stopped ? [] : await unfundedByDate(this.#trx, runId, topUp.sourceId);
      if (needs.length > 0) continue;
      const reason = stopped ? "Nothing more of the run is paid." : "No bill waits for money.";
      await withdrawTopUp(this.#trx, topUp, reason, this.#clock);
    }
  }

  async view(rejected: boolean, nextAskMs: number | null): Promise<RunView> {
    const { runId } = this.#run;
    const { businessMs, serviceMs } = this.#clock;
    const counts = await countLines(this.#trx, runId);
    const waits = this.#waits;
    const due = await dueLines(this.#trx, {
      runId,
      businessMs,
      serviceMs,
      blockedSources: waits.map((wait) => wait.sourceId),
    });
    return {
      run: this.#run,
      rejected,
      needsAction: (await runStand(this.#trx, runId, this.moment.businessMs)).needsAction,
      ...(counts.has("on-hold") ? { isApproved: await hasApproval(this.#trx, runId) } : {}),
      counts,
      waits,
      expiredLines: await this.#countOf("parked", ["approval_expired"]),
      stoppedLines: counts.has("cancelled") ? await this.#countOf("cancelled", ALARMS) : 0,
      ...(counts.has("retrying")
        ? {
            bouncedLines: await countWaitingForIncidents(this.#trx, runId),
            heldRetries: await this.#countOf("retrying", ["on_hold"]),
            askedRetries: await this.#countOf("retrying", [CHANGED_RECORD]),
          }
        : {}),
      ...(counts.has("parked")
        ? { givenBackLines: (await sumGivenBackIn(this.#trx, runId)).count }
        : {}),
      odd: await troubledLines(this.#trx, runId),
      cameBack: await cameBack(this.#trx, runId, counts),
      ...due,
      deposits: await depositsStand(this.#trx, runId, this.#clock),
      // Nothing is read while the service can't be read, or asks for a pause.
      ...(waits.some(stopsReads) ? { toFollow: 0, nextPollMs: null, mayRead: false } : {}),
      ...(await this.#asked(counts)),
      nextAskMs,
      nextChangesMs: [...(await nextChangesMs(this.#trx, this.moment)), this.#decisionTimeEndMs()],
      ...(await this.#afterLoss()),
      shortForMs: due.shortSinceMs === null ? 0 : this.#clock.realMs - due.shortSinceMs,
      clock: this.#clock,
    };
  }

  async #asked(counts: RunView["counts"]): Promise<Asked> {
    const isOpen = counts.has("awaiting-approval") || counts.has("on-hold");
    if (!isOpen) return { asks: [], decideBy: null };
    const waiting = await waitingBills(this.#trx, this.moment);
    const first = await firstDateToDecide(this.#trx, this.moment.runId);
    return {
      asks: waiting.flatMap((bills) => askOf(this.#run.policy, bills) ?? []),
      decideBy: first === null ? null : decideByOf(first),
    };
  }

  /** Returns until when nothing is sent after a loss of the store was noticed. */
  async #afterLoss(): Promise<Pick<RunView, "sendsNothingUntilMs">> {
    const untilMs = await sendsNothingUntilMs(this.#trx, this.#run.businessId, this.#clock);
    return untilMs === null ? {} : { sendsNothingUntilMs: untilMs };
  }

  #countOf(state: LineState, reasonCodes: readonly LineReason[]): Promise<number> {
    return countForReasons(this.#trx, this.#run.runId, { state, reasonCodes });
  }

  #decisionTimeOver(): boolean {
    const endMs = this.#decisionTimeEndMs();
    return endMs !== null && this.#clock.businessMs >= endMs;
  }

  /**
   * Business-clock instant after which no decision counts; people have had some real time by then.
   */
  #decisionTimeEndMs(): number | null {
    const { plannedAtMs, approveByMs } = this.#run;
    if (plannedAtMs === null || approveByMs === null) return null;
    const leftMs = plannedAtMs + this.#clock.peopleMinMs - this.#clock.realMs;
    return Math.max(approveByMs + 1, this.#clock.afterRealMs(leftMs));
  }
}

/** Removes the waits of funding sources that no line of the run is paid from. */
async function ofThisRun(
  trx: Transaction<Tables>,
  runId: string,
  waits: readonly BusinessWait[],
): Promise<readonly BusinessWait[]> {
  if (waits.every(({ sourceId }) => sourceId === "")) return waits;
  const sources = await sourcesOfRun(trx, runId);
  return waits.filter(({ sourceId }) => sourceId === "" || sources.has(sourceId));
}
