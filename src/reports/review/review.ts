import { LINE_STATES, ENDED_PHASES, type PlanSummary } from "../../contracts/pay-run.ts";
import type { ReviewedBill, RunReview } from "../../api/review.ts";
import { whyNotCounted } from "../../actions/decide.ts";
import type { ActionContext } from "../../actions/context.ts";
import type { Principal } from "../../actions/principal.ts";
import {
  missingOf,
  NOTHING,
  plus,
  type Person,
  shareOf,
  ShareSums,
  WaitingSums,
} from "../../domain/approvals/share.ts";
import { shareText } from "../../domain/approvals/share-texts.ts";
import { daysBetween } from "../../domain/clock/dates.ts";
import { decideByOf } from "../../domain/planning/dates.ts";
import { holdOn } from "../../domain/holds.ts";
import { leftOutCounts } from "../../domain/planning/left-out.ts";
import { isFlagged } from "../../domain/planning/flagged.ts";
import { activeHolds, type Hold } from "../../store/holds/holds.ts";
import { type LineAsApproved, linesUnderApproval } from "../../store/lines/decidable-lines.ts";
import { getPlan } from "../../store/plans/plans.ts";
import type { Run } from "../../store/runs/runs.ts";
import { paymentStatus } from "../status/payment.ts";
import { momentOf } from "../moment.ts";
import { runFacts, type StatusPage, topUpStatuses } from "../status/run.ts";
import { AccountSums } from "./accounts.ts";
import { BankChanges } from "./bank-changes.ts";
import { lastPaymentsTo } from "./last-payments.ts";

type ReviewContext = Pick<ActionContext, "store" | "profiles" | "clocks" | "clientOf">;

/** Odd and late bills that are named; more are counted, and stand in the list of all bills. */
const NAMED_MOST = 25;

/** What of a run is asked for. */
interface ReviewAsked extends Pick<StatusPage, "page" | "pageSize"> {
  /** Payables that the person would leave out. */
  readonly drop: ReadonlySet<string>;
}

/**
 * What somebody needs to see of a run before they approve it, and what their approval would do:
 * from the store, and of odd bills the last payments to their vendors from the service, where it
 * answers.
 */
export async function reviewOf(
  context: ReviewContext,
  run: Run,
  principal: Principal,
  asked: ReviewAsked,
): Promise<RunReview> {
  const { page, pageSize, drop } = asked;
  const { db } = context.store;
  const { runId, businessId } = run;
  const summary = (await getPlan(db, runId))?.summary;
  const moment = await momentOf(context, run.business);
  const nowMs = Date.parse(moment.now ?? new Date(0).toISOString());
  const refusal = await whyNotCounted(context, run, principal);
  const digest = new ReviewDigest(run, {
    summary,
    holds: await activeHolds(db, businessId, nowMs),
    person: { name: principal.name, roles: new Set(refusal === undefined ? principal.roles : []) },
    from: (page - 1) * pageSize,
    until: page * pageSize,
    drop,
  });
  for await (const lines of linesUnderApproval(db, runId, LINE_STATES, nowMs)) digest.add(lines);
  const { bills, odd, late, first, ...rest } = digest.shown();
  const share = digest.share();
  const summaryText =
    refusal === undefined ? shareText(share) : `Your approval doesn't count: ${refusal.reason}.`;
  return {
    ...runFacts(run),
    ...moment,
    ...rest,
    decideBy: first === null ? null : decideByOf(first),
    ...(await topUpStatuses(context, run)),
    warnings: summary?.warnings ?? [],
    odd: { count: odd.count, items: await withLastPayments(context, run, odd.items) },
    late,
    leftOut: {
      count: summary?.skippedCount ?? 0,
      byReason: leftOutCounts(summary?.skippedByCode ?? {}),
    },
    yours: {
      refusal: refusal === undefined ? null : { code: refusal.code, reason: refusal.reason },
      ...share,
      summary: summaryText,
    },
    bills,
    page,
    pageSize,
    nextPage: page * pageSize < rest.totalCount ? page + 1 : null,
  };
}

async function withLastPayments(
  { profiles, clientOf }: ReviewContext,
  { businessId }: Run,
  bills: readonly ReviewedBill[],
): Promise<RunReview["odd"]["items"]> {
  const profile = profiles.byBusinessId(businessId);
  const vendors = bills.map(({ contactId }) => contactId);
  const paid =
    profile === undefined || bills.length === 0
      ? new Map<string, never>()
      : await lastPaymentsTo(clientOf(profile), vendors);
  return bills.map((bill) => ({ ...bill, lastPayments: paid.get(bill.contactId) ?? null }));
}

interface Reviewing {
  readonly summary: PlanSummary | undefined;
  readonly holds: readonly Hold[];
  readonly person: Person;
  /** Which bills are listed, by their place in the plan from 0. */
  readonly from: number;
  readonly until: number;
  readonly drop: ReadonlySet<string>;
}

/** What a run's bills come to for who approves them: takes them some at a time, keeps few of them. */
class ReviewDigest {
  readonly #run: Run;
  readonly #of: Reviewing;
  readonly #shares = new ShareSums();
  readonly #missing = new WaitingSums();
  readonly #accounts: AccountSums;
  readonly #bills: ReviewedBill[] = [];
  readonly #dropped: ReviewedBill[] = [];
  readonly #bankChanges = new BankChanges();
  readonly #isOver: boolean;
  #odd: ReviewedBill[] = [];
  #late: ReviewedBill[] = [];
  #oddCount = 0;
  #lateCount = 0;
  #plan = NOTHING;
  #waiting = NOTHING;
  /** First execution date of those that wait. */
  #first: string | null = null;

  constructor(run: Run, of: Reviewing) {
    this.#run = run;
    this.#of = of;
    this.#accounts = new AccountSums(of.summary);
    this.#isOver = ENDED_PHASES.includes(run.phase);
  }

  add(lines: readonly LineAsApproved[]): void {
    const bills = lines
      .map((line) => this.#addOne(line))
      .filter(({ state }) => state !== "cancelled");
    const [odd, late] = [bills.filter(isFlagged), bills.filter(({ daysLate }) => daysLate > 0)];
    this.#oddCount += odd.length;
    this.#lateCount += late.length;
    this.#odd = most([...this.#odd, ...odd], ({ amountCents }) => amountCents);
    this.#late = most([...this.#late, ...late], ({ daysLate }) => daysLate);
  }

  #addOne({ planned, approvals, under }: LineAsApproved): ReviewedBill {
    const { plan, line } = planned;
    const cents = line.amountCents;
    const { runId, playbook } = this.#run;
    const isOpen = line.state === "awaiting-approval" || line.state === "on-hold";
    const missing = isOpen && !this.#isOver ? missingOf(under) : null;
    if (missing !== null) {
      const isHeld =
        line.state === "on-hold" ||
        holdOn(this.#of.holds, { ...line, runId, playbook }) !== undefined;
      const { drop, person } = this.#of;
      if (!drop.has(line.payableId)) {
        const share = shareOf(under, person);
        this.#shares.add(share, { cents, isHeld });
        if (share.kind === "goes-out" || share.kind === "one-of")
          this.#bankChanges.add(plan, cents);
      }
      this.#missing.add(missing, cents);
      this.#waiting = plus(this.#waiting, cents);
      if (this.#first === null || line.executionDate < this.#first)
        this.#first = line.executionDate;
    }
    const place = this.#plan.count;
    this.#plan = plus(this.#plan, cents);
    this.#accounts.add(plan, line.state);
    const { arrivalDate, dueDate, contactId, description } = plan;
    const bill = {
      ...paymentStatus(planned, approvals),
      contactId,
      description,
      daysLate: dueDate === null ? 0 : Math.max(0, daysBetween(dueDate, arrivalDate)),
      missing,
    };
    if (this.#of.drop.has(line.payableId)) this.#dropped.push(bill);
    if (place >= this.#of.from && place < this.#of.until) this.#bills.push(bill);
    return bill;
  }

  share() {
    return this.#shares.share();
  }

  shown() {
    return {
      plan: this.#plan,
      waiting: this.#waiting,
      first: this.#first,
      accounts: this.#accounts.all(),
      odd: { count: this.#oddCount, items: this.#odd },
      late: { count: this.#lateCount, items: this.#late },
      dropped: this.#dropped,
      bankChanges: this.#bankChanges.all(),
      missing: this.#missing.all(),
      bills: this.#bills,
      totalCount: this.#plan.count,
    };
  }
}

function most(bills: ReviewedBill[], of: (bill: ReviewedBill) => number): ReviewedBill[] {
  return bills.toSorted((one, other) => of(other) - of(one)).slice(0, NAMED_MOST);
}
