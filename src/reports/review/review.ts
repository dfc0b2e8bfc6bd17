import { definedOnly } from "../../contracts/defined-only.ts";
import { LINE_STATES } from "../../contracts/line-states.ts";
import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import type { ReviewedBill, RunReview } from "../../api/review.ts";
import { whyNotCounted } from "../../actions/decide.ts";
import type { ActionContext } from "../../actions/context.ts";
import { othersNow, PATIENCE_MS } from "../../actions/others-now.ts";
import type { ClockReading } from "../../business/clock.ts";
import type { Principal } from "../../actions/principal.ts";
import { afterLossText } from "../../domain/goes-out.ts";
import type { OtherNow } from "../../domain/approvals/share.ts";
import { shareText } from "../../domain/approvals/share-texts.ts";
import { addBankingDays } from "../../domain/clock/bank-calendar.ts";
import { newYorkDate } from "../../domain/clock/new-york.ts";
import { decideByOf, plannedMs } from "../../domain/planning/dates.ts";
import { changedRecordsFor } from "./changed-records.ts";
import { daysLate } from "../../domain/planning/flagged.ts";
import { sumText } from "../../domain/planning/vendor-sums.ts";
import { earliestDate } from "../../domain/planning/send-date.ts";
import { isBehind, sendsAfter } from "../../ledger/after-loss.ts";
import { topUpsOf } from "../../store/deposits/deposits.ts";
import { leftOutCounts } from "../../domain/planning/left-out.ts";
import { activeHolds } from "../../store/holds/holds.ts";
import {
  apartBy,
  approvalGroups,
  FLAGGED,
  LATE,
  type LineAsApproved,
  linesAsApproved,
} from "../../store/lines/approval-groups.ts";
import type { Db } from "../../store/index.ts";
import { getPlan } from "../../store/plans/plans.ts";
import type { Run } from "../../store/runs/runs.ts";
import { givenBackOf, markStanding } from "../status/given-back.ts";
import { paymentStatus } from "../status/payment.ts";
import { momentAt, clocksOf } from "../moment.ts";
import {
  phaseOfAll,
  runFacts,
  type StatusPage,
  whoStopped,
  topUpStatuses,
  withParked,
} from "../status/run.ts";
import { lacks, ReviewDigest } from "./digest.ts";
import type { PlannedMoney } from "./accounts.ts";
import { lateAfterDeadline } from "./late.ts";
import { lastPaymentsTo } from "./last-payments.ts";
import { standingNow } from "./money-now.ts";
import { warningsOf } from "./warnings.ts";

type ReviewContext = Pick<ActionContext, "store" | "profiles" | "clocks" | "clientOf">;

/**
 * Most flagged and late bills that are named; further ones are counted, and are in the list of all
 * bills.
 */
const NAMED_MOST = 25;

/** What the caller wants to see of a run. */
interface ReviewAsked extends Pick<StatusPage, "page" | "pageSize"> {
  /** Payables that the person would leave out. */
  readonly drop: ReadonlySet<string>;
}

/**
 * Returns what a person needs to see of a run before approving it, and what their approval would
 * do. It comes from the store; if the service answers, it adds the accounts' current money and the
 * last payments to the vendors of flagged bills.
 */
export async function reviewOf(
  context: ReviewContext,
  run: Run,
  principal: Principal,
  asked: ReviewAsked,
): Promise<RunReview> {
  const { page, pageSize, drop } = asked;
  const { db } = context.store;
  const { runId } = run;
  const stored = await getPlan(db, runId);
  const summary = stored?.summary;
  const planned = { summary, plannedMs: plannedMs(run) ?? stored?.createdAtMs };
  const refusal = await whyNotCounted(context, run, principal);
  const clock = await clocksOf(context, run.business);
  const nowMs = Math.floor(clock?.businessMs ?? 0);
  const moment = momentAt(context, run.business, nowMs);
  const topUps = await topUpsOf(db, runId);
  const storeBehind = await isBehind(db, run.businessId, clock);
  const looking = { drop, clock, nowMs, money: { ...planned, topUps } };
  const { digest, now } = await digestOf(context, run, principal, { ...looking, refusal });
  const { first, firstOfAll, plan, odd, late, byState, accounts, ...rest } = digest.shown();
  const reviewed = reviewedBill(run, clock);
  const read = async (filter: Parameters<typeof linesAsApproved>[2]) => {
    const bills = await linesAsApproved(db, runId, filter, nowMs);
    return markStanding(db, run, bills.map(reviewed));
  };
  const named = (count: number, of: Parameters<typeof linesAsApproved>[2]) =>
    count === 0 ? [] : read({ ...of, page: { offset: 0, limit: NAMED_MOST } });
  const lateOf = async () => {
    const earliest = clock === undefined ? "" : earliestDate(clock);
    if (first === null || first >= earliest) {
      return { count: late, items: await named(late, LATE) };
    }
    const arrival = addBankingDays(earliest, run.policy.pay.arrivalBusinessDays);
    const of = { earliest, arrival, businessMs: nowMs, most: NAMED_MOST, reviewed };
    const { count, bills } = await lateAfterDeadline(db, runId, of);
    return { count, items: await markStanding(db, run, bills) };
  };
  return {
    ...runFacts(run),
    ...phaseOfAll(run, byState),
    ...(await whoStopped(db, run)),
    waitingFor: withParked(run.waitingFor, byState, await givenBackOf(db, runId, byState)),
    ...definedOnly({ failure: run.failure ?? undefined }),
    ...moment,
    ...rest,
    plan,
    decideBy: first === null ? null : decideByOf(first),
    firstPayment: first === null ? firstOfAll : notBefore(first, clock),
    ...(await topUpStatuses(context, run)),
    accounts,
    warnings: warningsOf({ planned, topUps, now, accounts, zone: moment.zone, storeBehind }),
    odd: {
      count: odd,
      items: await withLastPayments(context, run, await named(odd, FLAGGED)),
    },
    late: await lateOf(),
    leftOut: {
      count: summary?.skippedCount ?? 0,
      byReason: leftOutCounts(summary?.skippedByCode ?? {}),
    },
    yours: await yoursOf(db, run, { refusal, clock, digest }),
    changedRecords: await changedRecordsFor(context, run, principal),
    dropped: drop.size === 0 ? [] : await read({ payableIds: [...drop] }),
    bills: await read({ page: { offset: (page - 1) * pageSize, limit: pageSize } }),
    totalCount: plan.count,
    page,
    pageSize,
    nextPage: page * pageSize < plan.count ? page + 1 : null,
  };
}

/** Summarizes the run's bills, with what the service says now about accounts, bills and vendors. */
async function digestOf(
  context: ReviewContext,
  run: Run,
  { name, roles }: Principal,
  {
    refusal,
    nowMs,
    ...of
  }: {
    readonly drop: ReadonlySet<string>;
    readonly money: PlannedMoney;
    readonly clock: ClockReading | undefined;
    readonly nowMs: number;
    readonly refusal: Awaited<ReturnType<typeof whyNotCounted>>;
  },
) {
  const { db } = context.store;
  const holds = await activeHolds(db, run.businessId, nowMs);
  // One time limit for all reads from the service.
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const others = await othersOf(context, run, signal);
  const groups = await approvalGroups(db, run.runId, {
    ...apartBy(others),
    states: LINE_STATES,
    businessMs: nowMs,
    holds,
    apart: [...of.drop],
    earliest: of.clock === undefined ? undefined : earliestDate(of.clock),
  });
  const digest = new ReviewDigest(run, {
    ...of,
    holds,
    others,
    person: { name, roles: new Set(refusal === undefined ? roles : []) },
    rejecter: { name, roles: new Set(roles) },
  });
  for (const group of groups) digest.add(group);
  // Read after the lines: what an account pays in between counts twice, rather than not at all.
  const today = newYorkDate(nowMs);
  const now = await standingNow(context, run, { ...digest.asked, today, signal });
  digest.setMoney(now?.money);
  return { digest, now };
}

/**
 * Returns bills that now differ from the plan. Empty for a run that has ended: it sends nothing
 * more, so nothing needs to be read.
 */
async function othersOf(
  context: ReviewContext,
  run: Run,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, OtherNow>> {
  const profile = context.profiles.byBusinessId(run.businessId);
  if (profile === undefined || ENDED_PHASES.includes(run.phase)) return new Map();
  return othersNow(context, profile, run, { vendors: "of-events", signal });
}

/** Returns what an approval by the caller would do, or why theirs would count for nothing. */
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

/** Returns the day of a bill that is not approved yet, if it is approved now. */
function notBefore(date: string, clock: ClockReading | undefined): string {
  const earliest = clock === undefined ? "" : earliestDate(clock);
  return date < earliest ? earliest : date;
}

/**
 * Returns a function that shows a bill. A bill that waits for an approval gets the dates that it
 * has if it is approved now.
 */
function reviewedBill({ phase, policy }: Run, clock: ClockReading | undefined) {
  const isOver = ENDED_PHASES.includes(phase);
  return ({ planned, approvals, under }: LineAsApproved): ReviewedBill => {
    const { plan, line } = planned;
    const missing = lacks(line, under, isOver);
    const { executionDate: date } = line;
    const executionDate = missing === null ? date : notBefore(date, clock);
    const shown = paymentStatus({ plan, line: { ...line, executionDate } }, approvals);
    return {
      ...shown,
      description: plan.description,
      // By the arrival that is shown beside it: a retry or a later approval has moved that.
      daysLate: daysLate(shown),
      missing,
      ...definedOnly({ because: sumText(plan, policy.approve) }),
    };
  };
}

async function withLastPayments(
  { profiles, clientOf }: ReviewContext,
  { businessId }: Run,
  bills: readonly ReviewedBill[],
): Promise<RunReview["odd"]["items"]> {
  const profile = profiles.byBusinessId(businessId);
  const vendors = bills.flatMap(({ contactId }) => contactId ?? []);
  const paid =
    profile === undefined || bills.length === 0
      ? new Map<string, never>()
      : await lastPaymentsTo(clientOf(profile), vendors);
  return bills.map((bill) => ({ ...bill, lastPayments: paid.get(bill.contactId ?? "") ?? null }));
}
