import { LINE_MOVED } from "../../src/domain/facts/lines.ts";
import { record } from "../../src/store/facts/record.ts";
import type { LineReason } from "../../src/contracts/reason-codes.ts";
import { byWorkflow } from "../../src/contracts/authors.ts";
import { LINE, type LineState } from "../../src/contracts/line-states.ts";
import { alarmOf } from "../../src/domain/payments/alarms.ts";
import { beforeFirstPayment } from "../../src/domain/payments/paid-since.ts";
import { formatUsd, sumCents } from "../../src/domain/money.ts";
import {
  isCalledBack,
  type LineOutcome,
  lineStateOfPayments,
} from "../../src/domain/payments/payment-states.ts";
import { nextPollMs } from "../../src/domain/payments/poll-times.ts";
import { lastSend } from "../../src/ledger/last-send.ts";
import { instantOf } from "../../src/domain/clock/instants.ts";
import { notedPayment } from "../../src/ledger/notes.ts";
import { subjectFacts } from "../../src/ledger/rows.ts";
import {
  clearLooks,
  followedLines,
  type LineMove,
  linesToLookAt,
  moveFollowed,
  pollLater,
} from "../../src/store/lines/followed-lines.ts";
import { changeLine, type RunLine } from "../../src/store/lines/lines.ts";
import { handledPayments } from "../../src/store/retries/retries.ts";
import { getRun, type Run } from "../../src/store/runs/runs.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { CALLED_BACK_TEXT } from "../../src/domain/notices/incident-texts.ts";
import { calledBack } from "../../src/store/cancellations/called-back.ts";
import { adviseVendors } from "./advise-vendors.ts";
import type { ActivityContext } from "../shared/context.ts";
import { handOverToRetry } from "./hand-over-to-retry.ts";
import { readOrWait } from "../shared/read-or-wait.ts";
import { type FollowedPayment, followedPayments } from "./followed-payments.ts";
import { followUndecided } from "./follow-undecided.ts";
import {
  alarmBehind,
  type PresentVendors,
  presentAccounts,
  watchScheduled,
} from "../follow/safety-net.ts";
import { takePayments } from "../follow/take-payments.ts";
import { lateOf, notifyOfLatePayments } from "../notify/late-payments.ts";

/** Pause, in real time, between two reads of a bill, or of its vendor, that can't be read. */
const UNREAD_MS = 600_000;

/** Lines that are loaded, judged and written together. */
const LINES_AT_ONCE = 500;

/**
 * Reads the payments of lines that an event or a due poll asks for, and moves the lines to what the
 * bank says; then the bills of lines that are undecided. Webhooks make this fast; the polls make it
 * certain.
 */
export async function followPayments(
  context: ActivityContext,
  runId: string,
): Promise<{ readonly changed: number }> {
  const { db } = context.store;
  const run = await getRun(db, runId);
  // If the store has lost the run meanwhile, the next look says so.
  if (run === undefined) return { changed: 0 };
  const clock = await context.clockOf(run.business).now();
  const changed = await followSent(context, run, clock);
  return { changed: changed + (await followUndecided(context, run, clock)) };
}

async function followSent(
  context: ActivityContext,
  run: Run,
  clock: ClockReading,
): Promise<number> {
  const { runId } = run;
  const due = await linesToLookAt(context.store.db, runId, clock.businessMs);
  if (due.length === 0) return 0;
  // The flag is cleared before the look: an event that arrives meanwhile sets it again. If the look
  // itself fails, the due poll makes the next try read the same lines.
  const signaled = due.filter(({ look }) => look).map(({ payableId }) => payableId);
  if (signaled.length > 0) {
    await context.store.transactionOf(run.businessId, (trx) =>
      clearLooks(trx, runId, signaled, clock.realMs),
    );
  }
  const ids = due.map(({ payableId }) => payableId);
  const read = await readOrWait(context, run, async () => {
    const client = context.clientOf(run.business);
    const payments = await followedPayments(client, due, beforeFirstPayment(run));
    const contacts = await presentAccounts(context, run, { ids, signaled, clock });
    return { payments, contacts };
  });
  if (read === undefined) return 0;
  const look = { ...read, signaled: new Set(signaled), clock };
  let changed = 0;
  for (let start = 0; start < ids.length; start += LINES_AT_ONCE) {
    changed += await followSome(context, run, ids.slice(start, start + LINES_AT_ONCE), look);
  }
  return changed;
}

/** A line that the bank has moved on. */
interface Move extends LineMove {
  readonly lineNo: number;
  readonly mine: readonly FollowedPayment[];
}

/** What was read for all lines, once. */
interface Look {
  readonly payments: ReadonlyMap<string, readonly FollowedPayment[]>;
  readonly contacts: PresentVendors;
  /** Payables that an event was about. */
  readonly signaled: ReadonlySet<string>;
  readonly clock: ClockReading;
}

async function followSome(
  context: ActivityContext,
  run: Run,
  ids: readonly string[],
  { payments, contacts, signaled, clock }: Look,
): Promise<number> {
  const lines = await followedLines(context.store.db, run.runId, ids);
  const asked = lines.map((line) => ({ ...line, look: signaled.has(line.payableId) }));
  const unread = await watchScheduled(context, run, asked, { payments, contacts, clock });
  const owned = new Set(lines.flatMap(({ paymentIds }) => paymentIds));
  const shown = lines.flatMap(({ payableId }) => payments.get(payableId) ?? []);
  const taken = await takePayments(
    context,
    {
      businessId: run.businessId,
      actor: byWorkflow(run.runId),
      runId: run.runId,
      nowMs: clock.realMs,
    },
    shown.filter(({ id }) => owned.has(id)),
  );
  const paymentOf = new Map(taken.map((payment) => [payment.id, payment]));
  const ended = taken.filter(({ status }) => isCalledBack(status)).map(({ id }) => id);
  const recalled = await calledBack(context.store.db, run.businessId, ended);
  const moves: Move[] = [];
  const later: { payableId: string; from: LineState; pollAtMs: number }[] = [];
  const standing: RunLine[] = [];
  let handedOver = 0;
  const handled = await handledBefore(context, run, lines);
  for (const line of lines) {
    const last = line.paymentIds.filter((id) => !handled.has(id));
    const mine = last.flatMap((id) => paymentOf.get(id) ?? []);
    const outcome = lineStateOfPayments(mine, line.amountCents);
    const { payableId, lineNo, state: from } = line;
    const isRead = payments.has(payableId) && !unread.has(payableId);
    const nextMs = nextPollMs(clock, await changedAtMs(context, line, mine, clock));
    const pollAtMs = isRead ? nextMs : Math.min(nextMs, clock.afterRealMs(UNREAD_MS));
    const isShown = mine.length >= last.length;
    if (outcome.kind === "failed" && outcome.others === null) {
      await handOverToRetry(context, run, line, clock);
      handedOver += 1;
    } else if (outcome.kind === "partial" && !isShown) {
      later.push({ payableId, from, pollAtMs });
      standing.push(line);
    } else {
      const { to, reasonCode, reason } = standsNow(line, outcome, recalled);
      if (to === from) {
        later.push({ payableId, from, pollAtMs });
        standing.push(line);
        if (reason !== null) await say(context, line, { reasonCode, reason }, clock);
      } else {
        moves.push({ payableId, lineNo, from, to, reasonCode, reason, pollAtMs, mine });
      }
    }
  }
  const late = lateOf(standing, run, clock).filter(({ state }) => state !== "settled");
  return handedOver + (await write(context, run, { moves, later, late, clock }));
}

/**
 * Returns the state that its payments put a line in, with the reason.
 *
 * @param recalled payments that were called back because of their account
 */
function standsNow(
  line: RunLine,
  outcome: LineOutcome,
  recalled: ReadonlySet<string>,
): Pick<LineMove, "to" | "reasonCode" | "reason"> {
  if (outcome.kind === "failed") {
    const cents = sumCents(outcome.reasons.map(({ amountCents }) => amountCents));
    const [first] = outcome.reasons;
    const reason = `${formatUsd(cents)} of it failed (${first?.failureReason ?? "no reason given"}) and needs a person, who can act once the rest of it is through.`;
    const to = outcome.others ?? line.state;
    // An alarm says why the rest was stopped, so it stays.
    if (alarmOf(line.reasonCode) !== undefined)
      return { to, reasonCode: line.reasonCode, reason: line.reason ?? "" };
    return { to, reasonCode: "partly_failed", reason };
  }
  if (outcome.kind === "partial") {
    return { to: "parked", reasonCode: "partly_paid", reason: outcome.text };
  }
  const alarm = alarmBehind(line, outcome.state);
  const isRecalled =
    LINE.calledBack.includes(outcome.state) && recalled.has(line.paymentIds.at(-1) ?? "");
  if (alarm === null && isRecalled) {
    return { to: "on-hold", reasonCode: "on_hold", reason: CALLED_BACK_TEXT };
  }
  const reason = alarm?.text ?? outcome.text;
  return { to: outcome.state, reasonCode: alarm?.code ?? null, reason };
}

/** Returns payments whose failure was dealt with: only what was paid again since then counts. */
function handledBefore(
  { store }: ActivityContext,
  { businessId }: Run,
  lines: readonly RunLine[],
): Promise<ReadonlySet<string>> {
  const again = lines.filter(({ paymentIds }) => paymentIds.length > 1);
  const ids = again.map(({ payableId }) => payableId);
  return handledPayments(store.db, businessId, ids);
}

function say(
  context: ActivityContext,
  line: RunLine,
  said: { readonly reasonCode: LineReason | null; readonly reason: string },
  clock: ClockReading,
): Promise<boolean> {
  if (line.reason === said.reason) return Promise.resolve(false);
  // If there is no new code, the old one stays.
  const change = said.reasonCode === null ? { reason: said.reason } : said;
  const guard = { from: [line.state] };
  return changeLine(context.store.db, line, change, clock.realMs, guard);
}

async function write(
  context: ActivityContext,
  run: Run,
  what: {
    readonly moves: readonly Move[];
    readonly later: readonly { payableId: string; from: LineState; pollAtMs: number }[];
    /** Those lines that are late, of the lines that did not change. */
    readonly late: readonly RunLine[];
    readonly clock: ClockReading;
  },
): Promise<number> {
  const { businessId, runId } = run;
  const nowMs = what.clock.realMs;
  if (what.moves.length === 0 && what.later.length === 0) return 0;
  return context.store.transactionOf(businessId, async (trx) => {
    await pollLater(trx, runId, what.later, nowMs);
    await notifyOfLatePayments(trx, run, what.late, nowMs);
    const moved = await moveFollowed(trx, runId, what.moves, nowMs);
    const done = what.moves.filter(({ payableId }) => moved.has(payableId));
    for (const [to, ofOne] of Map.groupBy(done, (move) => move.to)) {
      const lines = ofOne.map(({ payableId, lineNo, from, reasonCode, mine }) => ({
        payableId,
        lineNo,
        details: { from, reasonCode: reasonCode ?? undefined, payments: mine.map(notedPayment) },
      }));
      const head = { businessId, nowMs, by: byWorkflow(runId) };
      await record(trx, LINE_MOVED[to].ofLines(head, {}, { runId, lines }));
    }
    const settled = done
      .filter(({ to }) => to === "settled")
      .map(({ payableId, mine }) => ({ payableId, payments: mine }));
    await adviseVendors(trx, run, settled, nowMs);
    return moved.size;
  });
}

/**
 * Returns when the line's payments last changed, on the business clock; if the service doesn't show
 * them yet, when they were sent.
 */
async function changedAtMs(
  context: ActivityContext,
  line: RunLine,
  mine: readonly FollowedPayment[],
  clock: ClockReading,
): Promise<number> {
  const times = mine.flatMap(({ updatedAt, createdAt }) => instantOf(updatedAt ?? createdAt) ?? []);
  if (times.length > 0) return Math.max(...times);
  const { attempts } = await subjectFacts(context.store.db, line.businessId, line.payableId);
  const sentAtMs = lastSend(attempts)?.openedAtMs ?? 0;
  return clock.afterRealMs(sentAtMs - clock.realMs);
}
