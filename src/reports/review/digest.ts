import { definedOnly } from "../../contracts/defined-only.ts";
import type { RunReview } from "../../api/review.ts";
import { LINE, type LineState } from "../../contracts/line-states.ts";
import { ENDED_PHASES, type PlanLine } from "../../contracts/pay-run.ts";
import type { ClockReading } from "../../business/clock.ts";
import { bankChangeOf } from "../../domain/approvals/bank-changes.ts";
import { moneyReach } from "../../domain/approvals/money-reach.ts";
import {
  type LineUnderApproval,
  type MissingApproval,
  mayReject,
  missingOf,
  type OtherNow,
  type Person,
  shareOf,
  ShareSums,
  WaitingSums,
} from "../../domain/approvals/share.ts";
import { type BillSum, NOTHING, plus } from "../../domain/counted.ts";
import { holdOn } from "../../domain/holds.ts";
import { shownState } from "../../domain/plan-only.ts";
import { newDateOf } from "../../domain/planning/send-date.ts";
import type { Hold } from "../../store/holds/holds.ts";
import type { LineGroup } from "../../store/lines/approval-groups.ts";
import type { RunLine } from "../../store/lines/lines.ts";
import type { Run } from "../../store/runs/runs.ts";
import { AccountSums, type PlannedMoney } from "./accounts.ts";
import type { MoneyNow } from "./money-now.ts";

type BankChange = RunReview["bankChanges"][number];

/** Vendors whose bank account has changed, with the bills that would be paid to the new one. */
class BankChanges {
  readonly #vendors = new Map<string, BankChange>();

  add(line: PlanLine, bills: BillSum): void {
    const change = bankChangeOf(line);
    if (change === undefined) return;
    const sum = plus(this.#vendors.get(change.contactId) ?? NOTHING, bills);
    this.#vendors.set(change.contactId, { ...change, ...sum });
  }

  all(): readonly BankChange[] {
    return [...this.#vendors.values()];
  }
}

/** Returns whose approval a line waits for; null if it waits for none. */
export function lacks(
  { state }: Pick<RunLine, "state">,
  under: LineUnderApproval,
  isOver: boolean,
): MissingApproval | null {
  const isOpen = LINE.waiting.includes(state);
  return isOpen && !isOver ? missingOf(under) : null;
}

function earlier(one: string | null, other: string): string {
  return one === null || other < one ? other : one;
}

interface Reviewing {
  readonly money: PlannedMoney;
  readonly holds: readonly Hold[];
  readonly clock: ClockReading | undefined;
  readonly person: Person;
  /**
   * The same person, with their roles even if they may not approve: a run's launcher may still
   * reject it.
   */
  readonly rejecter: Person;
  readonly drop: ReadonlySet<string>;
  /** Bills that now differ from the plan, or whose vendors do. */
  readonly others: ReadonlyMap<string, OtherNow>;
}

/** Summarizes a run's bills for an approver. */
export class ReviewDigest {
  readonly #run: Run;
  readonly #of: Reviewing;
  readonly #shares = new ShareSums();
  readonly #missing = new WaitingSums();
  readonly #accounts: AccountSums;
  readonly #bankChanges = new BankChanges();
  readonly #isOver: boolean;
  mayReject = false;
  #odd = 0;
  #late = 0;
  #plan = NOTHING;
  readonly #byState: Partial<Record<LineState, BillSum>> = {};
  #waiting = NOTHING;
  readonly #unsentSources = new Set<string>();
  /** First execution date of the bills that wait. */
  #first: string | null = null;
  /** First execution date of all bills that the run has planned. */
  #firstOfAll: string | null = null;

  constructor(run: Run, of: Reviewing) {
    this.#run = run;
    this.#of = of;
    this.#accounts = new AccountSums(of.money);
    this.#isOver = ENDED_PHASES.includes(run.phase);
  }

  /** Accounts that bills are paid from, and those that something may still be sent from. */
  get asked() {
    return { sources: this.#accounts.sources, unsentSources: [...this.#unsentSources] };
  }

  /** Sets the accounts' current money; undefined if it could not be read. */
  setMoney(now: MoneyNow | undefined): void {
    this.#accounts.now = now;
  }

  add(group: LineGroup): void {
    const { plan, line } = group.planned;
    const { bills } = group;
    const missing = lacks(line, group.under, this.#isOver);
    if (missing !== null) {
      if (!this.#of.drop.has(line.payableId)) this.#addToShare(group);
      this.#missing.add(missing, bills);
      this.mayReject ||= mayReject(group.under, this.#of.rejecter);
      this.#waiting = plus(this.#waiting, bills);
      this.#first = earlier(this.#first, group.firstDate);
    }
    this.#firstOfAll = earlier(this.#firstOfAll, group.firstDate);
    this.#plan = plus(this.#plan, bills);
    const state = shownState(line.state);
    this.#byState[state] = plus(this.#byState[state] ?? NOTHING, bills);
    if (!this.#of.drop.has(line.payableId)) {
      const { isPaidAgain } = group;
      this.#accounts.add(plan, bills, { state, isPaidAgain, isOpen: missing !== null });
    }
    if (!this.#isOver && LINE.decidable.includes(line.state)) {
      this.#unsentSources.add(plan.funding.sourceId);
    }
    if (line.state === "cancelled") return;
    if (line.flagged || line.recordChanged) this.#odd += bills.count;
    if (line.daysLate > 0 && !LINE.ended.includes(line.state)) this.#late += bills.count;
  }

  #addToShare({ planned: { plan, line }, under, bills, firstDate }: LineGroup): void {
    const { runId, playbook, policy, plannedAtMs } = this.#run;
    const { holds, person, clock, others } = this.#of;
    const dates = { policy, plannedAtMs: plannedAtMs ?? 0 };
    const newDate = clock === undefined ? undefined : newDateOf(firstDate, dates, clock);
    const isHeld =
      line.state === "on-hold" || holdOn(holds, { ...line, runId, playbook }) !== undefined;
    const share = shareOf(under, person);
    const other = others.get(line.payableId);
    this.#shares.add(share, { bills, isHeld, other, newDate });
    if (share.kind === "goes-out" || share.kind === "one-of") this.#bankChanges.add(plan, bills);
  }

  share() {
    const share = this.#shares.share();
    const money = moneyReach(this.#accounts.leftCents(), share.goesOut);
    return { ...share, ...definedOnly({ money }) };
  }

  shown() {
    return {
      plan: this.#plan,
      byState: this.#byState,
      waiting: this.#waiting,
      first: this.#first,
      firstOfAll: this.#firstOfAll,
      accounts: this.#waiting.count === 0 ? this.#accounts.bare() : this.#accounts.all(),
      odd: this.#odd,
      late: this.#late,
      bankChanges: this.#bankChanges.all(),
      missing: this.#missing.all(),
    };
  }
}
