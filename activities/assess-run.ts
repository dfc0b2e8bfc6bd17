import type { Transaction } from "kysely";
import type { Attempt } from "../src/contracts/attempt.ts";
import type { Assessment } from "../src/contracts/activities.ts";
import { ENDED_PHASES, type LineState } from "../src/contracts/pay-run.ts";
import { holdOn } from "../src/domain/holds.ts";
import { judgeProgress } from "../src/domain/run-progress.ts";
import { changeLiveAttempt, liveAttemptsOf } from "../src/store/attempts.ts";
import { releaseEndedClaims } from "../src/store/claims.ts";
import { isRejected } from "../src/store/decisions.ts";
import { activeHolds } from "../src/store/holds.ts";
import { approvedLines } from "../src/store/line-approvals.ts";
import { changeLine, countLines, linesInStates, type RunLine } from "../src/store/lines.ts";
import { getRun, setApproveBy, setRunPhase, type Run } from "../src/store/runs.ts";
import type { Tables } from "../src/store/tables.ts";
import { listWaits } from "../src/store/waits.ts";
import type { ClockReading } from "../src/business/clock.ts";
import type { ActivityContext } from "./context.ts";
import { unknownRun, unplanned } from "./lost-run.ts";
import { stopsReads } from "./read-or-wait.ts";

const DAY_MS = 86_400_000;

/** Real time that approvers have at least, however fast a sandbox's bank clock runs. */
const DECISION_MIN_MS = 60_000;

/**
 * Brings a run's lines up to date with approvals, holds, cancellation and expiry, and says what
 * there is to do. Reads no service: it can run as often as anybody looks.
 */
export async function assessRun(context: ActivityContext, runId: string): Promise<Assessment> {
  const found = await getRun(context.store.db, runId);
  if (found === undefined) throw unknownRun(runId);
  if (found.planHash === null && !ENDED_PHASES.includes(found.phase)) return unplanned(found);
  const clock = await context.clockOf(found.business).now();
  return context.store.transactionOf(found.businessId, async (trx) => {
    const run = await startDecisionTime(trx, runId, clock);
    const facts = new RunFacts(trx, run, clock);
    const rejected = await isRejected(trx, runId);
    if (!ENDED_PHASES.includes(run.phase)) {
      if (run.cancelRequestedAtMs !== null || rejected) {
        await facts.stopDrawing(rejected ? "rejected" : "run-cancelled");
      } else {
        await facts.settleApprovals();
        await facts.wakeHeldLines();
      }
    }
    const view = await facts.view(rejected);
    const progress = judgeProgress(view);
    if (!ENDED_PHASES.includes(run.phase)) {
      await setRunPhase(trx, runId, {
        phase: progress.phase,
        waitingFor: progress.waitingFor,
        ...(progress.ended ? { endedAtMs: clock.realMs } : {}),
      });
      if (progress.ended) await releaseEndedClaims(trx, runId);
    }
    return progress;
  });
}

/** The run's row; the time to approve begins with the first look at its plan. */
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
  readonly #trx: Transaction<Tables>;
  readonly #run: Run;
  readonly #clock: ClockReading;

  constructor(trx: Transaction<Tables>, run: Run, clock: ClockReading) {
    this.#trx = trx;
    this.#run = run;
    this.#clock = clock;
  }

  /** Lines that were never sent end here; what was sent stays, and is followed. */
  async stopDrawing(code: "rejected" | "run-cancelled"): Promise<void> {
    const lines = await this.#lines(["awaiting-approval", "planned", "on-hold"]);
    const live = await this.#liveOf(lines);
    for (const line of lines) {
      const attempt = live.get(line.payableId);
      const open = attempt?.sends.some(
        (send) => send.result !== "refused" && send.result !== "not-sent",
      );
      if (open === true) {
        await this.#change(line, { state: "unknown" });
        continue;
      }
      await this.#release(attempt);
      await this.#change(line, { state: "cancelled", reasonCode: code, reason: null });
    }
  }

  /** Approved lines may be drawn; those nobody approved in time are parked. */
  async settleApprovals(): Promise<void> {
    const holds = await activeHolds(this.#trx, this.#run.businessId, this.#clock.businessMs);
    const expired = this.#decisionTimeOver();
    const lines = await this.#lines(["awaiting-approval", "planned", "on-hold"]);
    const approvedNow = await approvedLines(this.#trx, lines, this.#clock.businessMs);
    const live = expired ? await this.#liveOf(lines) : new Map<string, Attempt>();
    for (const line of lines) {
      if (line.state === "on-hold" && line.reasonCode !== "on-hold") continue;
      const hold = holdOn(holds, { ...line, playbook: this.#run.playbook });
      if (hold !== undefined) {
        const reason = `On hold since ${hold.author} said: ${hold.reason}`;
        if (line.state !== "on-hold" || line.reason !== reason) {
          await this.#change(line, { state: "on-hold", reasonCode: "on-hold", reason });
        }
        continue;
      }
      const approved = approvedNow.has(line.payableId);
      const state: LineState = approved ? "planned" : "awaiting-approval";
      if (!approved && expired) {
        await this.#release(live.get(line.payableId));
        await this.#change(line, {
          state: "parked",
          reasonCode: "approval-expired",
          reason: "Nobody approved it in time. The next run asks again.",
        });
      } else if (line.state !== state) {
        await this.#change(line, {
          state,
          reasonCode: null,
          reason: null,
          verifiedAtMs: 0,
          // While it was on hold another run may have had the money.
          funded: line.funded && line.state !== "on-hold",
        });
      }
    }
  }

  /** Lines that wait for an event or a person of the business are tried again when it came. */
  async wakeHeldLines(): Promise<void> {
    for (const line of await this.#lines(["on-hold"])) {
      if (line.reasonCode === "on-hold") continue;
      if (!line.look && line.pollAtMs > this.#clock.businessMs) continue;
      await this.#change(line, {
        state: "planned",
        look: false,
        verifiedAtMs: 0,
        funded: false,
      });
    }
  }

  async view(rejected: boolean): Promise<Parameters<typeof judgeProgress>[0]> {
    const { runId, businessId } = this.#run;
    const counts = await countLines(this.#trx, runId);
    const waits = (await listWaits(this.#trx, businessId)).filter(
      (wait) => wait.retryAtMs > this.#clock.serviceMs,
    );
    const due = await this.#due({
      sources: waits.map((wait) => wait.sourceId),
      reads: waits.some(stopsReads),
    });
    const odd = await this.#trx
      .selectFrom("run_lines")
      .select(["payable_id", "state", "reason", "reason_code"])
      .where("run_id", "=", runId)
      .where("state", "in", ["parked", "on-hold", "unknown", "retrying"])
      .orderBy("line_no")
      .limit(20)
      .execute();
    const exceptions = await this.#trx
      .selectFrom("run_lines")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("run_id", "=", runId)
      .where("state", "=", "parked")
      .where("reason_code", "=", "approval-expired")
      .executeTakeFirst();
    return {
      run: this.#run,
      rejected,
      counts,
      waits,
      expiredLines: Number(exceptions?.count ?? 0),
      odd: odd.map((row) => ({ payableId: row.payable_id, state: row.state, reason: row.reason })),
      ...due,
      clock: this.#clock,
    };
  }

  async #due(blocked: { readonly sources: readonly string[]; readonly reads: boolean }): Promise<{
    readonly toFund: number;
    readonly toPay: number;
    readonly toFollow: number;
    readonly nextPollMs: number | null;
    readonly nextDrawMs: number | null;
    readonly payDate: string | null;
  }> {
    const rows = await this.#trx
      .selectFrom("run_lines")
      .select([
        "state",
        "funded",
        "look",
        "poll_at_ms",
        "not_before_ms",
        "lease_until_ms",
        "execution_date",
        "source_id",
      ])
      .where("run_id", "=", this.#run.runId)
      .where("state", "in", [...FOLLOWED, "planned", "unknown", "paying", "settled"])
      .execute();
    const { businessMs, serviceMs, realMs } = this.#clock;
    const followed = rows.filter((row) => FOLLOWED.includes(row.state as LineState));
    const drawn = rows.filter((row) => ["unknown", "paying"].includes(row.state));
    const ready = [
      ...rows.filter((row) => row.state === "planned" && row.funded === 1),
      ...drawn.filter((row) => row.lease_until_ms === null || row.lease_until_ms < realMs),
    ];
    // Nothing is drawn while the business, or the line's own source, waits.
    const later = ready.filter(
      (row) =>
        row.not_before_ms > serviceMs ||
        blocked.sources.includes("") ||
        blocked.sources.includes(row.source_id),
    );
    const toFollow = [
      ...followed.filter((row) => row.look === 1 || row.poll_at_ms <= businessMs),
      ...rows.filter((row) => row.state === "settled" && (row.look === 1 || row.poll_at_ms === 0)),
    ];
    const resting = later.map((row) => row.not_before_ms).filter((until) => until > serviceMs);
    const leases = drawn
      .map((row) => row.lease_until_ms)
      .filter((until): until is number => until !== null && until >= realMs)
      .map((until) => until - realMs + serviceMs);
    return {
      toFund: rows.filter((row) => row.state === "planned" && row.funded === 0).length,
      toPay: ready.length - later.length,
      toFollow: blocked.reads ? 0 : toFollow.length,
      nextPollMs: blocked.reads ? null : least(followed.map((row) => row.poll_at_ms)),
      nextDrawMs: least([...resting, ...leases]),
      payDate: rows.map((row) => row.execution_date).sort()[0] ?? null,
    };
  }

  #decisionTimeOver(): boolean {
    const { plannedAtMs, approveByMs } = this.#run;
    if (plannedAtMs === null || approveByMs === null) return false;
    const { realMs, businessMs, scale } = this.#clock;
    const hadTime = scale <= 1 || realMs - plannedAtMs > DECISION_MIN_MS;
    return businessMs > approveByMs && hadTime;
  }

  #lines(states: readonly LineState[]): Promise<RunLine[]> {
    return linesInStates(this.#trx, this.#run.runId, states);
  }

  #liveOf(lines: readonly RunLine[]): ReturnType<typeof liveAttemptsOf> {
    return liveAttemptsOf(
      this.#trx,
      this.#run.businessId,
      lines.map((line) => line.payableId),
    );
  }

  /** A line that ends gives its refused request up, or its claim would stay for ever. */
  async #release(attempt: Attempt | undefined): Promise<void> {
    if (attempt === undefined) return;
    const { attemptId } = attempt;
    await changeLiveAttempt(this.#trx, attemptId, { state: "released" }, this.#clock.realMs);
  }

  async #change(line: RunLine, change: Parameters<typeof changeLine>[2]): Promise<void> {
    await changeLine(this.#trx, line, change, this.#clock.realMs, { from: [line.state] });
  }
}

/** States whose payments the run itself follows. */
const FOLLOWED: readonly LineState[] = ["scheduled", "held", "processing"];

function least(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.min(...values);
}
