import { approvalReminded, runEscalated, stageBegan } from "../../src/domain/facts/approvals.ts";
import { record } from "../../src/store/facts/record.ts";
import type { Transaction } from "kysely";
import { PAYRUN } from "../../src/contracts/authors.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import {
  type ApprovalAsk,
  askOf,
  asksInTime,
  stageOfRule,
  type WaitingBills,
} from "../../src/domain/approvals/asks.ts";
import { dueForPeopleMs } from "../../src/domain/clock/spans.ts";
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
import { lastRaisedMs } from "../../src/store/notices/notices.ts";
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
      if (ask !== undefined) await this.#notify(stageBegan, ask);
    }
  }

  /** Escalates stages; the roles escalated to may decide from the moment that this is written. */
  async escalate(): Promise<void> {
    const { realMs, askedBeforeMs } = this.#moment;
    for (const due of await escalateDue(this.#trx, this.#moment, askedBeforeMs)) {
      const ask = this.#askOf(due, { remindAtMs: null, escalateAtMs: null, escalated: true });
      if (ask === undefined) continue;
      const { businessId, runId } = this.#run;
      const head = { businessId, nowMs: realMs, by: PAYRUN, subject: runId };
      const { by, escalatesTo: to, count: lines, cents: totalCents } = ask;
      const stage = `${ask.stage + 1} of ${ask.stages}`;
      const escalated = { rule: ask.ruleIndex + 1, stage, by, to, lines, totalCents };
      const asked = this.#isTold() ? await this.#asked(ask) : undefined;
      await record(this.#trx, runEscalated(head, escalated, { asked }));
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
      await this.#notify(approvalReminded, ask);
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

  /** Returns what is asked, with the deadline of everything that still waits. */
  async #asked(ask: ApprovalAsk) {
    const first = await firstDateToDecide(this.#trx, this.#moment.runId);
    const decideBy = first === null ? null : decideByOf(first);
    const until = { decideBy, zone: this.#clock.zone };
    return { run: this.#run, ask, until, atMs: this.#moment.businessMs };
  }

  #isTold(): boolean {
    return this.#run.policy.notify.people !== "none";
  }

  /**
   * Notifies people of a stage at a moment; what changes the stage is written in the same
   * transaction.
   */
  async #notify(raised: typeof stageBegan, ask: ApprovalAsk): Promise<void> {
    if (!this.#isTold()) return;
    const head = { businessId: this.#run.businessId, nowMs: this.#moment.realMs };
    await record(this.#trx, raised(head, await this.#asked(ask)));
  }
}
