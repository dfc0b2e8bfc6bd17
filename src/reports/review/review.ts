import {
  ENDED_LINE_STATES,
  LINE_STATES,
  DECIDABLE,
  ENDED_PHASES,
  type LineState,
  type PlanSummary,
  type PlanLine,
} from "../../contracts/pay-run.ts";
import type { ReviewedBill, RunReview } from "../../api/review.ts";
import { whyNotCounted } from "../../actions/decide.ts";
import type { ActionContext } from "../../actions/context.ts";
import type { ClockReading } from "../../business/clock.ts";
import type { Principal } from "../../actions/principal.ts";
import {
  type LineUnderApproval,
  type MissingApproval,
  mayReject,
  missingOf,
  NOTHING,
  plus,
  type Person,
  shareOf,
  ShareSums,
  WaitingSums,
} from "../../domain/approvals/share.ts";
import { afterLossText } from "../../domain/goes-out.ts";
import { moneyReach } from "../../domain/approvals/money-reach.ts";
import { shareText } from "../../domain/approvals/share-texts.ts";
import { decideByOf } from "../../domain/planning/dates.ts";
import { daysLate } from "../../domain/planning/flagged.ts";
import { earliestDate, newDateOf } from "../../domain/planning/send-date.ts";
import type { BillSum } from "../../domain/counted.ts";
import { shownState } from "../../domain/plan-only.ts";
import { holdOn } from "../../domain/holds.ts";
import { sendsAfter } from "../../ledger/after-loss.ts";
import { type TopUp, topUpsOf } from "../../store/deposits/deposits.ts";
import { leftOutCounts } from "../../domain/planning/left-out.ts";
import { activeHolds, type Hold } from "../../store/holds/holds.ts";
import {
  approvalGroups,
  FLAGGED,
  LATE,
  type LineAsApproved,
  type LineGroup,
  linesAsApproved,
} from "../../store/lines/approval-groups.ts";
import type { RunLine } from "../../store/lines/lines.ts";
import type { Db } from "../../store/index.ts";
import { getPlan } from "../../store/plans/plans.ts";
import type { Run } from "../../store/runs/runs.ts";
import { markGivenBack } from "../status/given-back.ts";
import { paymentStatus } from "../status/payment.ts";
import { momentOf, readingOf } from "../moment.ts";
import { phaseAndOutcome, runFacts, type StatusPage, topUpStatuses } from "../status/run.ts";
import { AccountSums } from "./accounts.ts";
import { lastPaymentsTo } from "./last-payments.ts";
import { warningsOf } from "./warnings.ts";
import { bankChangeOf } from "../../domain/approvals/bank-changes.ts";

type BankChange = RunReview["bankChanges"][number];

/** Vendors whose bank account has changed, with the bills that would be paid to it. */
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
  const holds = await activeHolds(db, businessId, nowMs);
  const clock = await readingOf(context, run.business);
  const grouping = {
    ...{ states: LINE_STATES, businessMs: nowMs, holds, apart: [...drop] },
    earliest: clock === undefined ? undefined : earliestDate(clock),
  };
  const topUps = await topUpsOf(db, runId);
  const groups = await approvalGroups(db, runId, grouping);
  const digest = new ReviewDigest(run, {
    ...{ summary, holds, drop, clock, topUps },
    person: { name: principal.name, roles: new Set(refusal === undefined ? principal.roles : []) },
    rejecter: { name: principal.name, roles: new Set(principal.roles) },
  });
  for (const group of groups) digest.add(group);
  const { first, plan, odd, late, byState, unsentSources, ...rest } = digest.shown();
  const isOver = ENDED_PHASES.includes(run.phase);
  const read = async (filter: Parameters<typeof linesAsApproved>[2]) => {
    const bills = await linesAsApproved(db, runId, filter, nowMs);
    return markGivenBack(db, runId, bills.map(reviewedBill(isOver)));
  };
  const named = (count: number, of: Parameters<typeof linesAsApproved>[2]) =>
    count === 0 ? [] : read({ ...of, page: { offset: 0, limit: NAMED_MOST } });
  return {
    ...runFacts(run),
    ...phaseAndOutcome(run.phase, byState),
    ...(run.failure === null ? {} : { failure: run.failure }),
    ...moment,
    ...rest,
    plan,
    decideBy: first === null ? null : decideByOf(first),
    ...(await topUpStatuses(context, run)),
    warnings: await warningsOf(context, run, { summary, topUps, unsentSources }),
    odd: {
      count: odd,
      items: await withLastPayments(context, run, await named(odd, FLAGGED)),
    },
    late: { count: late, items: await named(late, LATE) },
    leftOut: {
      count: summary?.skippedCount ?? 0,
      byReason: leftOutCounts(summary?.skippedByCode ?? {}),
    },
    yours: await yoursOf(db, run, { refusal, clock, digest }),
    dropped: drop.size === 0 ? [] : await read({ payableIds: [...drop] }),
    bills: await read({ page: { offset: (page - 1) * pageSize, limit: pageSize } }),
    totalCount: plan.count,
    page,
    pageSize,
    nextPage: page * pageSize < plan.count ? page + 1 : null,
  };
}

/** What an approval by whoever asks would do, or why theirs counts for nothing. */
async function yoursOf(
  db: Db,
  { businessId, plannedAtMs }: Run,
  {
    refusal,
    clock,
    digest,
  }: {
    readonly refusal: Awaited<ReturnType<typeof whyNotCounted>>;
    readonly clock: ClockReading | undefined;
    readonly digest: ReviewDigest;
  },
): Promise<RunReview["yours"]> {
  const share = digest.share();
  const sends =
    clock === undefined ? undefined : await sendsAfter(db, businessId, clock, plannedAtMs ?? 0);
  return {
    refusal: refusal === undefined ? null : { code: refusal.code, reason: refusal.reason },
    ...share,
    ...(afterLossText(sends) === "" ? {} : { sends }),
    mayReject: digest.mayReject,
    summary:
      refusal === undefined
        ? shareText(share, { money: share.money, sends })
        : `Your approval doesn't count: ${refusal.reason}.`,
  };
}

function reviewedBill(isOver: boolean) {
  return ({ planned, approvals, under }: LineAsApproved): ReviewedBill => {
    const { plan, line } = planned;
    const shown = paymentStatus(planned, approvals);
    return {
      ...shown,
      contactId: plan.contactId,
      description: plan.description,
      // Of the arrival that is shown beside it: a retry or a later approval has moved that.
      daysLate: daysLate(shown),
      missing: lacks(line, under, isOver),
    };
  };
}

/** Whose approval a line waits for; null where it waits for none. */
function lacks(
  { state }: Pick<RunLine, "state">,
  under: LineUnderApproval,
  isOver: boolean,
): MissingApproval | null {
  const isOpen = state === "awaiting-approval" || state === "on-hold";
  return isOpen && !isOver ? missingOf(under) : null;
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
  readonly topUps: readonly TopUp[];
  readonly summary: PlanSummary | undefined;
  readonly holds: readonly Hold[];
  readonly clock: ClockReading | undefined;
  readonly person: Person;
  /** The same one: who has launched a run may still reject it. */
  readonly rejecter: Person;
  readonly drop: ReadonlySet<string>;
}

/** What a run's bills come to for who approves them. */
class ReviewDigest {
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
  /** First execution date of those that wait. */
  #first: string | null = null;

  constructor(run: Run, of: Reviewing) {
    this.#run = run;
    this.#of = of;
    this.#accounts = new AccountSums(of.summary, of.topUps);
    this.#isOver = ENDED_PHASES.includes(run.phase);
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
      if (this.#first === null || group.firstDate < this.#first) this.#first = group.firstDate;
    }
    this.#plan = plus(this.#plan, bills);
    const state = shownState(line.state);
    this.#byState[state] = plus(this.#byState[state] ?? NOTHING, bills);
    if (!this.#of.drop.has(line.payableId)) {
      this.#accounts.add(plan, state, bills, missing !== null);
    }
    if (!this.#isOver && DECIDABLE.includes(line.state)) {
      this.#unsentSources.add(plan.funding.sourceId);
    }
    if (line.state === "cancelled") return;
    if (line.flagged) this.#odd += bills.count;
    if (line.daysLate > 0 && !ENDED_LINE_STATES.includes(line.state)) this.#late += bills.count;
  }

  #addToShare({ planned: { plan, line }, under, bills, firstDate }: LineGroup): void {
    const { runId, playbook, policy, plannedAtMs } = this.#run;
    const { holds, person, clock } = this.#of;
    const dates = { policy, plannedAtMs: plannedAtMs ?? 0 };
    const newDate = clock === undefined ? undefined : newDateOf(firstDate, dates, clock);
    const isHeld =
      line.state === "on-hold" || holdOn(holds, { ...line, runId, playbook }) !== undefined;
    const share = shareOf(under, person);
    this.#shares.add(share, { bills, isHeld, newDate });
    if (share.kind === "goes-out" || share.kind === "one-of") this.#bankChanges.add(plan, bills);
  }

  share() {
    const share = this.#shares.share();
    const money = moneyReach(this.#accounts.leftCents(), share.goesOut);
    return { ...share, ...(money === undefined ? {} : { money }) };
  }

  shown() {
    return {
      plan: this.#plan,
      byState: this.#byState,
      waiting: this.#waiting,
      first: this.#first,
      accounts: this.#waiting.count === 0 ? this.#accounts.bare() : this.#accounts.all(),
      odd: this.#odd,
      late: this.#late,
      bankChanges: this.#bankChanges.all(),
      unsentSources: [...this.#unsentSources],
      missing: this.#missing.all(),
    };
  }
}
