import type { Transaction } from "kysely";
import { PAYRUN } from "../../src/contracts/authors.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import {
  type ApprovalAsk,
  askedRoles,
  askOf,
  asksInTime,
  stageOfRule,
  type WaitingBills,
} from "../../src/domain/approvals/asks.ts";
import type { NoticeKind } from "../../src/contracts/notices.ts";
import { dueForPeopleMs } from "../../src/domain/clock/spans.ts";
import {
  approvalEscalated,
  approvalReminder,
  stageOpened,
} from "../../src/domain/notices/approval-texts.ts";
import type { DecideBy, NoticeText } from "../../src/domain/notices/run-texts.ts";
import { decideByOf } from "../../src/domain/planning/dates.ts";
import {
  beginStage,
  escalateDue,
  firstDateToDecide,
  postponeReminder,
  type StageSum,
  turnedStages,
  waitingBills,
} from "../../src/store/approvals/approval-waits.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import { lastRaisedMs, raiseNotice } from "../../src/store/notices/notices.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";

/**
 * Opens the stages whose turn has come, escalates what has waited too long, and reminds, each fact
 * once, in the transaction that assesses the run.
 *
 * A playbook whose approvals have no time limits costs nothing here.
 *
 * @returns business-clock instant of the next reminder or escalation; null for none
 */
export async function askApprovers(
  trx: Transaction<Tables>,
  run: Run,
  clock: ClockReading,
): Promise<number | null> {
  if (!asksInTime(run.policy)) return null;
  const asking = new AskingRun(trx, run, clock);
  await asking.openStages();
  await asking.escalate();
  const waiting = await asking.remind();
  // What is due already waits until people have had their least time.
  const soonMs = clock.afterRealMs(clock.peopleMinMs);
  const next = waiting
    .flatMap(({ remindAtMs, escalated, escalateAtMs }) => [
      remindAtMs,
      escalated ? null : escalateAtMs,
    ])
    .filter((at) => at !== null)
    .map((at) => (at > clock.businessMs ? at : soonMs));
  return next.length === 0 ? null : Math.min(...next);
}

class AskingRun {
  readonly #trx: Transaction<Tables>;
  readonly #run: Run;
  readonly #clock: ClockReading;
  readonly #moment: {
    readonly runId: string;
    readonly businessMs: number;
    readonly realMs: number;
    /** Real instant: people who were asked later than this are not asked again yet. */
    readonly askedBeforeMs: number;
  };

  constructor(trx: Transaction<Tables>, run: Run, clock: ClockReading) {
    this.#trx = trx;
    this.#run = run;
    this.#clock = clock;
    const businessMs = Math.floor(clock.businessMs);
    const { realMs } = clock;
    const askedBeforeMs = realMs - clock.peopleMinMs;
    this.#moment = { runId: run.runId, businessMs, realMs, askedBeforeMs };
  }

  async openStages(): Promise<void> {
    const { approve, remind } = this.#run.policy;
    for (const turned of await turnedStages(this.#trx, this.#moment)) {
      const rule = approve[turned.ruleIndex];
      if (rule === undefined) continue;
      const { escalate } = stageOfRule(rule, turned.stage);
      const next = {
        remindAtMs: remind === undefined ? null : dueForPeopleMs(this.#clock, remind.after),
        escalateAtMs: escalate === undefined ? null : dueForPeopleMs(this.#clock, escalate.after),
      };
      await beginStage(this.#trx, this.#moment, turned, next);
      // The notice of the plan announces the first stage.
      if (turned.stage === 0) continue;
      const ask = this.#askOf(turned, { ...next, escalated: false });
      if (ask !== undefined)
        await this.#notify(
          "approval-needed",
          ask,
          stageOpened(this.#run, ask, await this.#deadline()),
        );
    }
  }

  /** Escalates stages; the roles escalated to may decide from the moment that this is written. */
  async escalate(): Promise<void> {
    const { realMs, askedBeforeMs } = this.#moment;
    for (const due of await escalateDue(this.#trx, this.#moment, askedBeforeMs)) {
      const ask = this.#askOf(due, { remindAtMs: null, escalateAtMs: null, escalated: true });
      if (ask === undefined) continue;
      await appendAudit(this.#trx, {
        businessId: this.#run.businessId,
        nowMs: realMs,
        actor: PAYRUN,
        action: "run.approval-escalated",
        subject: this.#run.runId,
        details: {
          rule: ask.ruleIndex + 1,
          stage: `${ask.stage + 1} of ${ask.stages}`,
          by: ask.by,
          to: ask.escalatesTo,
          lines: ask.count,
          totalCents: ask.cents,
        },
      });
      await this.#notify(
        "approval-escalated",
        ask,
        approvalEscalated(this.#run, ask, await this.#deadline()),
      );
    }
  }

  /**
   * Reminds approvers of what waits.
   *
   * @returns what waits, with the next reminders
   */
  async remind(): Promise<readonly WaitingBills[]> {
    const { remind } = this.#run.policy;
    // Approvers are asked anew about a bill on hold once its hold is released.
    const waiting = (await waitingBills(this.#trx, this.#moment)).filter(({ isHeld }) => !isHeld);
    if (remind === undefined || (await this.#remindedJustNow())) return waiting;
    const { businessMs, askedBeforeMs } = this.#moment;
    const after: WaitingBills[] = [];
    for (const bills of waiting) {
      const ask = askOf(this.#run.policy, bills);
      const isDue =
        bills.remindAtMs !== null &&
        bills.remindAtMs <= businessMs &&
        (bills.sinceRealMs ?? 0) <= askedBeforeMs;
      if (ask === undefined || !isDue) {
        after.push(bills);
        continue;
      }
      const remindAtMs = dueForPeopleMs(this.#clock, remind.every);
      await this.#notify(
        "approval-reminder",
        ask,
        approvalReminder(this.#run, ask, await this.#deadline()),
      );
      await postponeReminder(this.#trx, this.#run.runId, bills, remindAtMs);
      after.push({ ...bills, remindAtMs });
    }
    return after;
  }

  async #remindedJustNow(): Promise<boolean> {
    if (this.#clock.peopleMinMs === 0) return false;
    const lastMs = await lastRaisedMs(this.#trx, this.#run.runId, "approval-reminder");
    return lastMs !== null && this.#moment.realMs - lastMs < this.#clock.peopleMinMs;
  }

  #askOf(
    sum: StageSum,
    more: Pick<WaitingBills, "remindAtMs" | "escalateAtMs" | "escalated">,
  ): ApprovalAsk | undefined {
    return askOf(this.#run.policy, {
      ...sum,
      ...more,
      given: 0,
      isHeld: false,
      isHurried: false,
      asksRecord: false,
      sinceMs: null,
      sinceRealMs: null,
    });
  }

  /** Returns the deadline of everything that still waits. */
  async #deadline(): Promise<DecideBy> {
    const first = await firstDateToDecide(this.#trx, this.#moment.runId);
    return { decideBy: first === null ? null : decideByOf(first), zone: this.#clock.zone };
  }

  /**
   * Notifies people of a stage at a moment; what changes the stage is written in the same
   * transaction.
   */
  async #notify(kind: NoticeKind, ask: ApprovalAsk, text: NoticeText): Promise<void> {
    const run = this.#run;
    if (run.policy.notify.people === "none") return;
    const { businessMs, realMs } = this.#moment;
    await raiseNotice(this.#trx, {
      businessId: run.businessId,
      kind,
      factKey: factOf(run.runId, ask, businessMs),
      ...text,
      roles: kind === "approval-escalated" ? ask.escalatesTo : askedRoles(ask),
      data: {
        count: ask.count,
        cents: ask.cents,
        planHash: run.planHash,
        stage: ask.stage + 1,
        stages: ask.stages,
        by: ask.by,
        quorum: ask.quorum,
        escalatesTo: ask.escalatesTo,
      },
      runId: run.runId,
      nowMs: realMs,
    });
  }
}

/**
 * Names a reminder's fact. Bills that one person has approved are reminded of apart from bills
 * without approvals.
 */
function factOf(runId: string, ask: ApprovalAsk, businessMs: number): string {
  const { ruleIndex, stage, escalated, given, asksRecord } = ask;
  const fact = [runId, ruleIndex, stage, Number(escalated), businessMs];
  return [...fact, ...(given === 0 ? [] : [given]), ...(asksRecord ? ["record"] : [])].join("/");
}
