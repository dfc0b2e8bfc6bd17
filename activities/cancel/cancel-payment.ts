import { setTimeout as delay } from "node:timers/promises";
import { cancelSubject } from "../../src/contracts/names.ts";
import {
  type CancelVerdict,
  judgeForCancel,
} from "../../src/domain/cancellations/judge-payment.ts";
import { CANCEL_WAITS } from "../../src/domain/service-waits.ts";
import { LEAVE_WITHIN_MS } from "../../src/ledger/derive.ts";
import type { Wish } from "../../src/ledger/facts.ts";
import { mayCancel } from "../../src/ledger/gate-cancel.ts";
import { askGate } from "../../src/ledger/gate.ts";
import { cancel } from "../../src/ledger/operations.ts";
import { recordResults } from "../../src/ledger/results.ts";
import { subjectFacts } from "../../src/ledger/rows.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import { TimeLimit } from "../../src/payments-api/index.ts";
import { openSubjects } from "../../src/store/open-subjects.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../context.ts";
import { leave, outcomeOf } from "../pay/leave.ts";
import { cancelRequest } from "./cancel-request.ts";
import { judgeCancelled, meansForItem } from "./cancel-answers.ts";
import type { CancelJob, CancelOutcome, Recorded } from "./job.ts";
import { readPaymentToCancel } from "./read-payment.ts";
import { recordCancel } from "./record-cancel.ts";
import { cancelSends, type Look, unknownPayment, withoutSend } from "./without-send.ts";

/** Reads and sends in one go, before the payment rests until the next. */
const ROUNDS = 4;
const ROUND_PAUSE_MS = 150;

const REFUSED_REST_MS = 15_000;

/**
 * Cancels one payment, at most once, whatever happened to it before.
 *
 * Reads the payment before each send, so what an unanswered cancel came to, what somebody else
 * did and where the clock stands are known before the gate is asked.
 */
export async function cancelPayment(context: ActivityContext, job: CancelJob): Promise<Recorded> {
  const { business } = job.cancellation;
  for (let round = 0; round < ROUNDS; round += 1) {
    const look = await lookAt(context, job);
    if (look === undefined) {
      const clock = await context.clockOf(business).now();
      return record(context, job, unknownPayment(job, clock), clock);
    }
    const asked = await askToCancel(context, job, look);
    if ("outcome" in asked) return asked;
    const sent = await sendCancel(context, job, asked);
    if (sent !== undefined) return sent;
    await delay(ROUND_PAUSE_MS);
  }
  const clock = await context.clockOf(business).now();
  const reason = "The service refuses to cancel it and shows it as if it could; trying again.";
  const notBeforeMs = clock.serviceMs + REFUSED_REST_MS;
  return record(context, job, { kind: "rest", notBeforeMs, reason }, clock);
}

function record(
  context: ActivityContext,
  job: CancelJob,
  outcome: CancelOutcome,
  clock: ClockReading,
): Promise<Recorded> {
  return context.store.transactionOf(job.cancellation.businessId, (trx) =>
    recordCancel(trx, job, outcome, clock),
  );
}

async function lookAt(context: ActivityContext, job: CancelJob): Promise<Look | undefined> {
  const { business, businessId } = job.cancellation;
  const { db } = context.store;
  const clocks = context.clockOf(business);
  const client = context.clientOf(business);
  const read = await readPaymentToCancel(client, db, await clocks.now(), job.item.paymentId);
  if (read === undefined) return undefined;
  const { payment, reading } = read;
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
  const verdict = judgeForCancel(payment, { severalScheduled, refused, ...clock });
  const sends = cancelSends(attempts, reading, job.cancellation.workflowId);
  return { payment, reading, verdict, sends, clock };
}

async function hasSeveralScheduled(
  context: ActivityContext,
  business: string,
  payableId: string,
): Promise<boolean> {
  const payments = await context.clientOf(business).payments.listAll({ payableId });
  return payments.filter(({ status }) => status === "scheduled").length > 1;
}

interface OpenedCancel {
  readonly send: OpenedSend;
  /** Until when its bytes may leave. */
  readonly limit: TimeLimit;
}

/** Asks the gate, and writes what follows where it lets nothing through. */
async function askToCancel(
  context: ActivityContext,
  job: CancelJob,
  look: Look,
): Promise<OpenedCancel | Recorded> {
  const { cancellation, item, by } = job;
  const { businessId, workflowId: owner } = cancellation;
  const { payment, verdict, reading, clock } = look;
  const subject = cancelSubject(payment.id);
  const mayAsk = verdict.kind === "cancel" && look.sends.pauseMs <= 0 && look.sends.no === null;
  const wish: Wish | null = mayAsk ? cancelRequest(cancellation, payment) : null;
  const limit = leaveLimit(verdict, clock);
  const caller = { cancellation, items: new Map([[subject, item]]), clock };
  return context.store.transactionOf(businessId, async (trx) => {
    const answers = await askGate(
      trx,
      { businessId, operation: cancel, sentBy: by, owner, clock },
      [{ subject, wish, reading }],
      (within, wanted) => mayCancel(within, caller, wanted),
    );
    const answer = answers.get(subject);
    if (answer === undefined) throw new Error(`the gate said nothing of ${subject}`);
    if (answer.kind === "open") return { send: answer.send, limit };
    return recordCancel(trx, job, withoutSend(job, look, answer), clock);
  });
}

/** Started before the gate is asked; a cancel may not leave after 9:00 New York either. */
function leaveLimit(
  verdict: CancelVerdict,
  { businessMs, scale }: { readonly businessMs: number; readonly scale: number },
): TimeLimit {
  const untilMs = verdict.kind === "cancel" ? verdict.untilMs : null;
  if (untilMs === null || scale <= 0) return new TimeLimit(LEAVE_WITHIN_MS);
  return new TimeLimit(Math.min(LEAVE_WITHIN_MS, (untilMs - businessMs) / scale));
}

/** @returns undefined where only reading the payment tells what follows */
async function sendCancel(
  context: ActivityContext,
  job: CancelJob,
  { send, limit }: OpenedCancel,
): Promise<Recorded | undefined> {
  const { business, businessId } = job.cancellation;
  const left = judgeCancelled(job, await leave(context, business, cancel, send, limit));
  const clock = await context.clockOf(business).now();
  return context.store.transactionOf(businessId, async (trx) => {
    await recordResults(trx, businessId, [outcomeOf(send, left.judged)]);
    const open = await openSubjects(trx, businessId, [send.subject]);
    const isOpen = open.has(send.subject);
    const outcome = meansForItem(left, { send, isOpen, clock });
    return outcome === "look" ? undefined : recordCancel(trx, job, outcome, clock, CANCEL_WAITS);
  });
}
