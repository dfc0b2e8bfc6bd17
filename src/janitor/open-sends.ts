import { type Fact, wakeUp, wakeWorkflow } from "../domain/facts/fact.ts";
import { billPaidAfterAll, paymentUnexplained } from "../domain/facts/payments.ts";
import { requestAdopted } from "../domain/facts/requests.ts";
import { record } from "../store/facts/record.ts";
import type { Transaction } from "kysely";
import { DAY_MS, HOUR_MS } from "../contracts/durations.ts";
import type { ClockReading } from "../business/clock.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { LINE } from "../contracts/line-states.ts";
import { ENDED_PHASES } from "../contracts/pay-run.ts";
import { newYorkDate, newYorkInstantMs } from "../domain/clock/new-york.ts";
import { lineStateOfPayments } from "../domain/payments/payment-states.ts";
import { windowMs } from "../ledger/derive.ts";
import { type GateStep, lookupOnly } from "../ledger/gate.ts";
import { notedPayment } from "../ledger/notes.ts";
import { pay } from "../ledger/operations.ts";
import { readPayments } from "../ledger/readings.ts";
import { subjectFacts } from "../ledger/rows.ts";
import { shownAfterAll, unexplainedText } from "../ledger/shown.ts";
import type { Payment } from "../payments-api/index.ts";
import { reasonOf } from "../process/repeat.ts";
import { databaseNowMs } from "../store/sql/database-clock.ts";
import { createHold } from "../store/holds/holds.ts";
import { recordPaidLines } from "../store/lines/line-leases.ts";
import { changeLine, getRunLine, type RunLine } from "../store/lines/lines.ts";
import { leftOpen, neverAnswered } from "../store/payables/open-subjects.ts";
import { keepSeenPayments } from "../store/payables/seen-payments.ts";
import { phaseOf } from "../store/janitor/open-runs.ts";
import type { Tables } from "../store/schema/tables.ts";
import { PAYRUN } from "../contracts/authors.ts";
import type { JanitorContext } from "./context.ts";

/** Payments show within a minute of being made; the other minutes make the lookup conclusive. */
const AFTER_WINDOW_MS = 5 * 60_000;

/** Time between two lookups of one bill. */
const LOOK_EVERY_MS = 10 * 60_000;

/** Bills that one pass reads: few go so long without a final answer. */
const AT_ONCE = 10;

/**
 * How long bills are looked up in case the service pays after all, later than it should: a weekend.
 */
const AFTER_ALL_MS = 5 * DAY_MS;

/**
 * Time between two such lookups of one bill; in addition, there is one before each cut-off at 9:00.
 */
const AFTER_ALL_EVERY_MS = 6 * HOUR_MS;
const BEFORE_CUT_OFF = "08:00";

/**
 * Looks up bills that a request may still pay and that no run or retry is working on: those found
 * to be paid, parked or waiting for people. Without a conclusive lookup they would stay claimed.
 * Goes on for days with bills whose requests never had an answer, though nothing should come of
 * them any more: a service may be later than the ledger can guard against.
 *
 * @param unread bills that could not be read at the last pass, which are tried after all others;
 * kept for the next one
 * @returns how many were looked up
 */
export async function lookAtOpenSends(
  context: JanitorContext,
  profile: BusinessProfile,
  unread: Set<string>,
): Promise<number> {
  const { store, log } = context;
  const { businessId, name: business, sandbox } = profile;
  const nowMs = await databaseNowMs(store.db);
  const before = {
    openedMs: nowMs - windowMs(sandbox) - AFTER_WINDOW_MS,
    lookedUpAtMs: nowMs - LOOK_EVERY_MS,
  };
  const most = AT_ONCE + unread.size;
  const chosen = (found: readonly string[]): string[] =>
    found
      .toSorted((one, other) => Number(unread.has(one)) - Number(unread.has(other)))
      .slice(0, AT_ONCE);
  const left = chosen(await leftOpen(store.db, businessId, before, most));
  const since = {
    openedMs: nowMs - AFTER_ALL_MS,
    lookedUpAtMs: sandbox ? before.lookedUpAtMs : lookedAtBeforeMs(nowMs),
  };
  left.push(...chosen(await neverAnswered(store.db, businessId, since, most)));
  const looks = left.map(async (payableId) => {
    try {
      await lookAt(context, profile, payableId);
      unread.delete(payableId);
    } catch (error) {
      unread.add(payableId);
      const fields = { business, payableId, reason: reasonOf(error) };
      log.info("a bill with an open request could not be read", fields);
    }
  });
  await Promise.all(looks);
  return left.length;
}

function lookedAtBeforeMs(nowMs: number): number {
  const morningMs = newYorkInstantMs(newYorkDate(nowMs), BEFORE_CUT_OFF);
  return Math.max(nowMs - AFTER_ALL_EVERY_MS, morningMs <= nowMs ? morningMs : 0);
}

async function lookAt(
  context: JanitorContext,
  { businessId, name }: BusinessProfile,
  payableId: string,
): Promise<void> {
  const before = await context.clockOf(name).now();
  const { reading, payments } = await readPayments(
    context.clientOf(name),
    context.store.db,
    before,
    payableId,
  );
  const clock = await context.clockOf(name).now();
  await context.store.transactionOf(businessId, async (trx) => {
    const caller = { businessId, operation: pay, sentBy: PAYRUN.name, owner: PAYRUN.name, clock };
    const step = await lookupOnly(trx, caller, payableId, reading);
    const looked = { businessId, payableId, payments, clock };
    await follow(trx, looked, step);
    if (step.kind === "idle" || step.kind === "applied") {
      // Nothing could come of it any more, and yet a payment stands.
      const shown = shownAfterAll(await subjectFacts(trx, businessId, payableId), reading);
      const reason = unexplainedText(shown);
      const fact = shown.map(({ id }) => id).toSorted();
      if (shown.length > 0) await unexplained(trx, looked, reason, fact.join());
    }
  });
}

interface Looked {
  readonly businessId: string;
  readonly payableId: string;
  readonly payments: readonly Payment[];
  readonly clock: ClockReading;
}

async function follow(trx: Transaction<Tables>, looked: Looked, step: GateStep): Promise<void> {
  if (step.kind === "person") {
    await unexplained(trx, looked, step.reason, step.reason);
  } else if (step.kind === "adopt") {
    await takeFound(trx, looked, step.seq, step.ids);
  }
}

/** Gives the line its payments, if its run still follows it; otherwise people are notified. */
async function takeFound(
  trx: Transaction<Tables>,
  looked: Looked,
  seq: number,
  ids: readonly string[],
): Promise<void> {
  const { businessId, payableId, payments, clock } = looked;
  const found = payments.filter(({ id }) => ids.includes(id));
  const line = await lineOf(trx, looked, seq);
  const paymentIds = [...new Set([...(line?.paymentIds ?? []), ...ids])];
  if (line === undefined || !line.isAsSent || !(await mayTake(trx, line))) {
    const paid = { payableId, payments: found, found: ids.join() };
    await notify(trx, looked, billPaidAfterAll({ businessId, nowMs: clock.realMs }, paid));
    // Limits count it, though no run follows it.
    await keepSeenPayments(trx, businessId, found);
    if (line !== undefined) await changeLine(trx, line, { paymentIds }, clock.realMs);
    return;
  }
  const outcome = lineStateOfPayments(found, line.amountCents);
  // A failure is left to the follower, which owns what comes after it.
  const state = outcome.kind === "state" ? outcome.state : "processing";
  const { runId } = line;
  const times = { pollAtMs: Math.round(clock.businessMs), nowMs: clock.realMs };
  await recordPaidLines(trx, [{ runId, payableId, state, paymentIds }], times);
  const head = { businessId, nowMs: clock.realMs, by: PAYRUN, subject: payableId };
  const paid = { result: "applied", seq, line: state, payments: found.map(notedPayment) };
  await record(trx, requestAdopted(head, paid));
  await record(trx, wakeUp(businessId, wakeWorkflow(runId)));
}

/** Returns the request's line, as it stands now; undefined if the store has lost what was sent. */
async function lineOf(
  trx: Transaction<Tables>,
  { businessId, payableId }: Looked,
  seq: number,
): Promise<(RunLine & { readonly isAsSent: boolean }) | undefined> {
  const { attempts } = await subjectFacts(trx, businessId, payableId);
  const sent = attempts.find((attempt) => attempt.seq === seq)?.sends.at(-1);
  const line = sent && (await getRunLine(trx, sent.runId, payableId));
  return line && { ...line, isAsSent: line.lineHash === sent.approvedHash };
}

async function mayTake(trx: Transaction<Tables>, { runId, state }: RunLine): Promise<boolean> {
  const phase = await phaseOf(trx, runId);
  const isOpen = phase !== undefined && !ENDED_PHASES.includes(phase);
  // Neither a lane nor a retry works on it.
  return isOpen && (LINE.decidable.includes(state) || state === "parked");
}

/**
 * Leaves a bill to people: they are notified once, and it is on hold until one of them releases it.
 */
async function notify(
  trx: Transaction<Tables>,
  { businessId, payableId, clock }: Looked,
  news: Fact,
): Promise<void> {
  if (!(await record(trx, news))) return;
  // A hold of its own: a person who lifts another hold need not have seen this notice.
  const reason = news.notice?.subject ?? "";
  const hold = { businessId, scope: "payable", value: payableId, reason } as const;
  await createHold(trx, { ...hold, author: PAYRUN, nowMs: clock.realMs });
}

function unexplained(
  trx: Transaction<Tables>,
  looked: Looked,
  reason: string,
  found: string,
): Promise<void> {
  const { businessId, payableId, clock } = looked;
  const shown = { payableId, reason, found };
  return notify(trx, looked, paymentUnexplained({ businessId, nowMs: clock.realMs }, shown));
}
