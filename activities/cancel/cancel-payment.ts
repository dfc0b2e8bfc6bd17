import { setTimeout as delay } from "node:timers/promises";
import { cancelSubject } from "../../src/contracts/names.ts";
import {
  type CancelVerdict,
  judgeForCancel,
} from "../../src/domain/cancellations/judge-payment.ts";
import { CANCEL_WAITS } from "../../src/domain/service-waits.ts";
import type { Wish } from "../../src/ledger/facts.ts";
import { mayCancel } from "../../src/ledger/gate-cancel.ts";
import { askAbout } from "../../src/ledger/gate.ts";
import { cancel } from "../../src/ledger/operations.ts";
import { paymentsOfBill } from "../../src/ledger/made-payments.ts";
import { cancelRequest } from "../../src/ledger/requests.ts";
import { subjectFacts } from "../../src/ledger/rows.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import type { Payment, TimeLimit } from "../../src/payments-api/index.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../shared/context.ts";
import { leave, leaveLimit, recordAnswer } from "../pay/leave.ts";
import { backOff } from "../shared/back-off.ts";
import { meansForItem } from "./cancel-answers.ts";
import type { CancelOutcome, PaymentJob } from "./job.ts";
import { readPaymentToCancel } from "./read-payment.ts";
import { recordCancel } from "./record-cancel.ts";
import { cancelSends, type Judged, unknownPayment, withoutSend } from "./without-send.ts";

/** Number of reads and sends, one after another, before the payment backs off. */
const ROUNDS = 4;
const ROUND_PAUSE_MS = 150;

const REFUSED_WAIT_MS = 15_000;

/**
 * Cancels one payment, at most once, whatever happened to it before.
 *
 * Reads the payment before each send. Before it asks the gate it therefore knows what came of an
 * unanswered cancel, what other people did and what time it is.
 */
export async function cancelPayment(
  context: ActivityContext,
  job: PaymentJob,
): Promise<CancelOutcome> {
  const { business } = job.cancellation;
  for (let round = 0; round < ROUNDS; round += 1) {
    const judged = await readAndJudge(context, job);
    if (judged === undefined) {
      const clock = await context.clockOf(business).now();
      return record(context, job, unknownPayment(job, clock), clock);
    }
    const asked = await askToCancel(context, job, judged);
    if ("kind" in asked) return asked;
    const sent = await sendCancel(context, job, asked);
    if (sent !== undefined) return sent;
    await delay(ROUND_PAUSE_MS);
  }
  const clock = await context.clockOf(business).now();
  const reason = "The service refuses to cancel it and shows it as if it could; trying again.";
  return record(context, job, backOff(REFUSED_WAIT_MS, reason), clock);
}

function record(
  context: ActivityContext,
  job: PaymentJob,
  outcome: CancelOutcome,
  clock: ClockReading,
): Promise<CancelOutcome> {
  return context.store.transactionOf(job.cancellation.businessId, (trx) =>
    recordCancel(trx, job, outcome, clock),
  );
}

async function readAndJudge(
  context: ActivityContext,
  job: PaymentJob,
): Promise<Judged | undefined> {
  const { business, businessId } = job.cancellation;
  const { db } = context.store;
  const clocks = context.clockOf(business);
  const client = context.clientOf(business);
  const read = await readPaymentToCancel(client, db, await clocks.now(), job.item.paymentId);
  if (read === undefined) return undefined;
  const { payment, reading } = read;
  if (isOfAnother(job, payment)) return undefined;
  const { attempts } = await subjectFacts(db, businessId, cancelSubject(payment.id));
  const refused = attempts.some(({ sends }) =>
    sends.some(({ code }) => code === "payment_not_cancellable"),
  );
  const mayBeOfSeveral = payment.status === "scheduled" || (payment.status === "held" && refused);
  const severalScheduled =
    mayBeOfSeveral && payment.payableId !== null
      ? await hasSeveralScheduled(context, business, payment.payableId)
      : false;
  const clock = await clocks.now();
  const verdict = judgeForCancel(payment, { severalScheduled, refused, clock });
  const sends = cancelSends(attempts, reading, job.cancellation.workflowId);
  return { payment, reading, verdict, sends, clock };
}

/** True if the service shows the payment as one of another bill than the one that it was chosen for. */
function isOfAnother({ item }: PaymentJob, { payableId }: Payment): boolean {
  return item.payableId !== null && payableId !== null && payableId !== item.payableId;
}

async function hasSeveralScheduled(
  context: ActivityContext,
  business: string,
  payableId: string,
): Promise<boolean> {
  const listed = await context.clientOf(business).payments.listAll({ payableId });
  const { businessId } = context.profileOf(business);
  const payments = await paymentsOfBill(context.store.db, businessId, payableId, listed);
  return payments.filter(({ status }) => status === "scheduled").length > 1;
}

interface OpenedCancel {
  readonly send: OpenedSend;
  /** The time limit within which its bytes may leave. */
  readonly limit: TimeLimit;
}

/** Asks the gate, and records the outcome if the gate lets nothing through. */
async function askToCancel(
  context: ActivityContext,
  job: PaymentJob,
  judged: Judged,
): Promise<OpenedCancel | CancelOutcome> {
  const { cancellation, item, by } = job;
  const { businessId, workflowId: owner } = cancellation;
  const { payment, verdict, reading, clock } = judged;
  const subject = cancelSubject(payment.id);
  const mayAsk = verdict.kind === "cancel" && judged.sends.pauseMs <= 0 && judged.sends.no === null;
  const wish: Wish | null = mayAsk ? cancelRequest(cancellation, item) : null;
  const limit = cancelLimit(verdict, clock);
  const caller = { cancellation, items: new Map([[subject, item]]) };
  return context.store.transactionOf(businessId, async (trx) => {
    const answer = await askAbout(
      trx,
      { businessId, operation: cancel, sentBy: by, owner, clock },
      { subject, wish, reading },
      (within, ...wanted) => mayCancel(within, caller, ...wanted),
    );
    if (answer.kind === "open") return { send: answer.send, limit };
    return recordCancel(trx, job, withoutSend(job, judged, answer), clock);
  });
}

/**
 * Starts a cancel's time limit, before the gate is asked. A cancel may not leave after 9:00 New
 * York either.
 */
function cancelLimit(verdict: CancelVerdict, clock: ClockReading): TimeLimit {
  const untilMs = verdict.kind === "cancel" ? verdict.untilMs : null;
  return untilMs === null ? leaveLimit() : leaveLimit(clock.realMsUntil(untilMs));
}

/** @returns undefined if only reading the payment shows what follows */
async function sendCancel(
  context: ActivityContext,
  job: PaymentJob,
  { send, limit }: OpenedCancel,
): Promise<CancelOutcome | undefined> {
  const { business, businessId } = job.cancellation;
  const left = await leave(context, business, cancel, send, limit);
  const clock = await context.clockOf(business).now();
  return context.store.transactionOf(businessId, async (trx) => {
    const isOpen = await recordAnswer(trx, send, left.judged);
    const outcome = meansForItem(left, send, isOpen);
    return outcome === "look" ? undefined : recordCancel(trx, job, outcome, clock, CANCEL_WAITS);
  });
}
