import { endedLook } from "../shared/ended-look.ts";
import { vendorAccountChanged } from "../../src/domain/facts/retries.ts";
import { record } from "../../src/store/facts/record.ts";
import type { RetryAssessment, RetryFailedPaymentInput } from "../../src/contracts/activities.ts";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { withFullStop } from "../../src/domain/history-texts.ts";
import { owedCents } from "../../src/domain/payments/owed.ts";
import { isReinitiable } from "../../src/domain/payments/return-codes.ts";
import { NOTHING_OWED } from "../../src/domain/payments/others-texts.ts";
import { lineStateOfPayments } from "../../src/domain/payments/payment-states.ts";
import { earliestDate } from "../../src/domain/planning/send-date.ts";
import { NO_APPROVAL, partOwedText } from "../../src/domain/retries/approval.ts";
import { giveUpInMs } from "../../src/domain/retries/give-up.ts";
import { lineApproved } from "../../src/store/approvals/line-approvals.ts";
import { isRejected } from "../../src/store/approvals/decisions.ts";
import { isOpenSubject } from "../../src/store/payables/open-subjects.ts";
import { clearLook, flagLook } from "../../src/store/retries/retries.ts";
import { getRetryCase, type RetryCaseRule } from "../../src/store/lines/retry-cases.ts";
import type { ActivityContext } from "../shared/context.ts";
import { alarmBehind, readContact, watchScheduled } from "../follow/safety-net.ts";
import { lateOf, notifyOfLatePayments } from "../notify/late-payments.ts";
import { readOrSay } from "../notify/while-unread.ts";
import { afterFailure, decideLater } from "./after-failure.ts";
import { finishRetry, following, leaveToNextRun, park, retryParked } from "./answers.ts";
import { assessExternalPayment } from "./assess-external-payment.ts";
import { approvalEndOf } from "./approval.ts";
import { giveUp } from "./give-up.ts";
import { noteRelease, payWhenFree, UNANSWERED } from "./pay-when-free.ts";
import {
  openRetryCase,
  type RetryCase,
  saysMore,
  setLine,
  setRow,
  undealtPayments,
} from "./retry-case.ts";
import { liftFailureHolds } from "./failure-holds.ts";
import { waitIfCalledBack } from "./called-back.ts";
import { waitOver } from "./wait-over.ts";
import { planLineOf } from "../../src/store/lines/lines.ts";
import { accountText } from "../../src/domain/vendor-account.ts";
import { LINE, type LineState } from "../../src/contracts/line-states.ts";

/** What happens to a bill that nothing here may pay. */
const NEXT_RUN = "The next run asks for a new approval.";

/**
 * Reads everything about a failed or returned payable again and returns what its owner does next:
 * wait for the next banking day, pay, follow what was paid, wait for a person, or end.
 */
export function reviewFailedPayment(
  context: ActivityContext,
  input: RetryFailedPaymentInput,
): Promise<RetryAssessment> {
  return withCase(context, input, judge);
}

/** Opens the case and returns what `work` returns; waits if the service can't be read now. */
export async function withCase<T = RetryAssessment>(
  context: ActivityContext,
  input: RetryFailedPaymentInput,
  work: (retry: RetryCase) => Promise<T>,
): Promise<T | RetryAssessment> {
  const { business, payableId } = input;
  const workflowId = retryFailedPaymentId(business, payableId);
  const { db } = context.store;
  const subject = { businessId: context.profileOf(business).businessId, payableId };
  // The flag is cleared before the look: an event that arrives meanwhile sets it again.
  const look = await clearLook(db, subject);
  let isUnseen = look;
  try {
    const read = await readOrSay(context, { business, workflowId }, async () => {
      const opened = await openRetryCase(context, input, look);
      if (opened.kind === "ours") return work(opened.case);
      return opened.isExternal === true
        ? assessExternalPayment(context, input)
        : endedLook(opened.reason);
    });
    if ("found" in read) {
      isUnseen = false;
      return read.found;
    }
    const { waitingFor, wakeInMs } = read;
    const details = withFullStop(`\`${payableId}\` waits for ${waitingFor}`);
    return { phase: "waiting", waitingFor, wakeInMs, details, outcome: null };
  } finally {
    if (isUnseen) await flagLook(db, subject);
  }
}

/** Judges what its owner does next, by what was read of it. */
export async function judge(retry: RetryCase): Promise<RetryAssessment> {
  if (LINE.endsRetry.includes(retry.line.state)) {
    return finishRetry(retry, `a person or the run ended it: ${retry.line.state}`);
  }
  const open = undealtPayments(retry);
  if (open.length === 0 && (await waitsForAnswer(retry))) {
    return payWhenFree(retry, UNANSWERED);
  }
  const outcome = lineStateOfPayments(open, retry.line.amountCents);
  if (outcome.kind === "failed") {
    if (outcome.others !== null) {
      return follow(retry, "other parts are still on their way");
    }
    return afterFailure(retry, outcome.reasons);
  }
  if (open.length > 0) {
    if (outcome.kind === "state" && outcome.state === "settled") {
      if (retry.line.state !== "settled") await settleLine(retry);
      return finishRetry(retry, "settled");
    }
    if (outcome.kind === "state" && LINE.calledBack.includes(outcome.state)) {
      const recalled = await waitIfCalledBack(retry, open);
      if (recalled !== undefined) return recalled;
      const alarm = alarmBehind(retry.line, outcome.state);
      await setLine(retry, { state: outcome.state, reason: alarm?.text ?? outcome.text });
      return finishRetry(retry, outcome.state);
    }
    if (outcome.kind === "partial" && retry.row.requested === "retry") {
      return askAgain(retry, outcome.missingCents);
    }
    if (outcome.kind === "partial" && retry.line.state === "parked") {
      // People were notified already of what is missing and why, or the bill has been given back.
      if (retry.row.phase === "parked") return retryParked(retry);
      if (retry.row.phase === "ended")
        return finishRetry(retry, retry.row.reason ?? "it has ended");
    }
    if (outcome.kind === "partial") {
      return park(retry, "partly_paid", `${outcome.text}. Compare it with the bank.`);
    }
    await noteMoney(retry, outcome.state === "processing");
    return follow(retry, `the new payment is ${outcome.state}`, outcome.state);
  }
  return withoutOpenPayment(retry);
}

/**
 * Records whether the service has taken the money. Money that it has taken is promised no longer,
 * though the bill is still tried again.
 */
async function noteMoney(retry: RetryCase, moneyTaken: boolean): Promise<void> {
  if (retry.row.moneyTaken !== moneyTaken) await setRow(retry, { moneyTaken });
}

/**
 * True if a request may still pay. A bill that waits for a person is not sent again before the
 * person acts.
 */
async function waitsForAnswer(retry: RetryCase): Promise<boolean> {
  const { context, businessId, payableId, row } = retry;
  if (row.phase === "parked" && row.requested === null) return false;
  return isOpenSubject(context.store.db, businessId, payableId);
}

/**
 * Waits for the bank's word; operators are notified if that takes too long.
 *
 * @param state of the payment; null if the service doesn't show it yet
 */
async function follow(
  retry: RetryCase,
  text: string,
  state: LineState | null = "processing",
): Promise<RetryAssessment> {
  const { run, clock, businessId } = retry;
  const shown = state ?? "processing";
  await watchRetry(retry, shown);
  const late = lateOf([{ ...retry.line, state: shown }], run, clock);
  if (late.length > 0) {
    await retry.context.store.transactionOf(businessId, (trx) =>
      notifyOfLatePayments(trx, run, late, clock.realMs),
    );
  }
  return following(retry, text, state !== null);
}

/** Checks a retry that the service has scheduled, as a run checks its payments. */
async function watchRetry(
  { context, run, business, line, payableId, payments, clock }: RetryCase,
  state: LineState,
): Promise<void> {
  if (!LINE.recallable.includes(state)) return;
  const contact = await readContact(context, business, line.contactId);
  await watchScheduled(context, run, [{ ...line, state }], {
    payments: new Map([[payableId, payments]]),
    contacts: new Map(contact === undefined ? [] : [[line.contactId, contact]]),
    clock,
  });
}

/**
 * Judges a case in which nothing is on its way and every failure is dealt with: it waits for its
 * day or a person, or ends.
 */
async function withoutOpenPayment(retry: RetryCase): Promise<RetryAssessment> {
  if (retry.row.phase === "following") {
    return follow(retry, "the service doesn't show the new payment yet", null);
  }
  const owed = owedCents({
    totalCents: retry.payable.totalAmountCents,
    amountPaidCents: retry.payable.amountPaidCents,
    payments: retry.payments,
  });
  if (owed === 0) {
    await setLine(retry, {
      state: "paid-elsewhere",
      reasonCode: "paid_elsewhere",
      reason: NOTHING_OWED,
    });
    return finishRetry(retry, "paid elsewhere");
  }
  if (retry.row.requested === "retry") return askedFor(retry);
  const kept = await getRetryCase(retry.context.store.db, retry.businessId, retry.payableId);
  if (kept !== undefined && giveUpInMs(kept, retry.clock) === 0) return giveUp(retry, kept);
  if (retry.row.phase === "waiting") {
    await noteRelease(retry);
    const wait = await waitOver(retry, kept);
    if (wait.kind === "not-yet") return wait.answer;
    return payWhenFree(retry, wait.because);
  }
  if (retry.row.phase === "ended") return finishRetry(retry, retry.row.reason ?? "it has ended");
  if (retry.line.state === "settled") return finishRetry(retry, "nothing is wrong with it");
  return parkedNow(retry, kept);
}

/**
 * Judges a case that waits for a person. Meanwhile it may show whose account is at fault, or the
 * vendor's account may change.
 */
async function parkedNow(
  retry: RetryCase,
  kept: RetryCaseRule | undefined,
): Promise<RetryAssessment> {
  if (kept === undefined) return retryParked(retry);
  const { rule, waitsFor } = kept;
  const isRefused = rule.action === "hold-vendor" || !isReinitiable(retry.row.reasonCode);
  const isOpen = waitsFor === "either-side" || (waitsFor === "incident" && isRefused);
  const decided = isOpen ? await decideLater(retry, rule) : undefined;
  if (decided !== undefined) return decided;
  const isVendors = waitsFor === "bank-account" || waitsFor === "either-side";
  if (rule.payAgain && isVendors) await lookAtVendor(retry, kept);
  return retryParked(retry);
}

/** Pays again what a person wants paid again: as it was approved, or not at all. */
async function askedFor(retry: RetryCase): Promise<RetryAssessment> {
  const runsOn = earliestDate(retry.clock);
  const end = await approvalEndOf(retry, runsOn);
  // The person has decided about the vendor, whoever pays the bill.
  await liftFailureHolds(retry);
  if (end !== null) return leaveToNextRun(retry, end.code, `${end.reason} ${NEXT_RUN}`);
  if (await isRejected(retry.context.store.db, retry.run.runId)) {
    const reason = `Its run was rejected, which takes back its approval. ${NEXT_RUN}`;
    return leaveToNextRun(retry, "rejected", reason);
  }
  const { droppedBy } = retry.line;
  if (droppedBy !== null) {
    const reason = `${droppedBy} has left it out, which takes back its approval. ${NEXT_RUN}`;
    return leaveToNextRun(retry, "dropped", reason);
  }
  const { store } = retry.context;
  if (!(await lineApproved(store.db, retry.line, retry.clock.businessMs))) {
    return leaveToNextRun(retry, "not_approved", `${NO_APPROVAL} ${NEXT_RUN}`);
  }
  const { reasonCode, requestedBy } = retry.row;
  if (!saysMore(retry.line)) {
    await setLine(retry, { state: "retrying", reasonCode, reason: `Retried by ${requestedBy}.` });
  }
  return payWhenFree(retry, `a person asked for it, it runs on ${runsOn}`);
}

/** Gives the bill back, because what is left is not what was approved; the next run plans it. */
function askAgain(retry: RetryCase, missingCents: number): Promise<RetryAssessment> {
  const reason = `${partOwedText(missingCents)} ${NEXT_RUN}`;
  return leaveToNextRun(retry, "changed_since_approval", reason);
}

async function settleLine(retry: RetryCase): Promise<void> {
  const { retriesMade } = retry.row;
  const times = retriesMade === 1 ? "one retry" : `${retriesMade} retries`;
  const reason = retriesMade === 0 ? null : `Settled after ${times}.`;
  await setLine(retry, { state: "settled", reasonCode: null, reason });
}

/**
 * Notifies the roles of the rule once the vendor has a different bank account. Nothing is paid
 * automatically: a changed account deserves a second look, and the bill a new approval.
 */
async function lookAtVendor(retry: RetryCase, { rule }: RetryCaseRule): Promise<void> {
  const { context, business, businessId, payableId, line, run, clock } = retry;
  const contact = await context.clientOf(business).contacts.get(line.contactId);
  const last4 = contact.bankAccount?.last4 ?? null;
  const { bankLast4 } = await planLineOf(context.store.db, line);
  if (last4 === null || last4 === bankLast4) return;
  const reason = `The vendor's bank account is ••${last4} now, it was ${accountText(bankLast4)}. Ask the vendor by a channel you already know, then have it tried again: the next run asks for a new approval.`;
  if (line.reason !== reason) await setLine(retry, { reason });
  const account = {
    runId: run.runId,
    payableId,
    contactId: line.contactId,
    last4,
    reason,
    roles: rule.by,
    contactName: contact.displayName,
  };
  const when = { businessId, nowMs: clock.realMs };
  await record(context.store.db, vendorAccountChanged(when, account));
  if (retry.row.reason !== reason) await setRow(retry, { reason });
}
