import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { cancelSubject } from "../../src/contracts/names.ts";
import { judgeForCancel } from "../../src/domain/cancellations/judge-payment.ts";
import { CANCEL_WAITS } from "../../src/domain/service-waits.ts";
import type { Wish } from "../../src/ledger/facts.ts";
import { mayCancel } from "../../src/ledger/gate-cancel.ts";
import { askAbout, type GateAnswer } from "../../src/ledger/gate.ts";
import { paymentsOfBill } from "../../src/ledger/made-payments.ts";
import { cancel } from "../../src/ledger/operations.ts";
import { cancelRequest } from "../../src/ledger/requests.ts";
import { subjectFacts } from "../../src/ledger/rows.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import type { ActivityContext } from "../shared/context.ts";
import type { MoneyWrite } from "../shared/perform.ts";
import type { CancelOutcome, PaymentJob } from "./job.ts";
import { readPaymentToCancel } from "./read-payment.ts";
import { recordCancel } from "./record-cancel.ts";
import { cancelSends, isToBeRead, type Judged, outcomeOfCancel } from "./without-send.ts";

/**
 * Cancels one payment, at most once, whatever happened to it before.
 *
 * Reads the payment before each send. Before it asks the gate it therefore knows what came of an
 * unanswered cancel, what other people did and what time it is.
 */
export const CANCEL_PAYMENT: MoneyWrite<PaymentJob, Judged | undefined, CancelOutcome> = {
  operation: cancel,
  businessOf: ({ cancellation }) => cancellation,
  read: readAndJudge,
  leaveWithinMs: cancelWithinMs,
  ask: askToCancel,
  pausesMs: [150, 150, 150],
  again: isToBeRead,
  record: (trx, job, said, heard) => {
    const outcome = outcomeOfCancel(job, said, heard);
    // Only the answer to a cancel proves that cancels go through.
    return heard.sent === null
      ? recordCancel(trx, job, outcome, heard.clock)
      : recordCancel(trx, job, outcome, heard.clock, CANCEL_WAITS);
  },
};

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
  return { payment, reading, verdict, sends };
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

async function askToCancel(
  _: ActivityContext,
  trx: Transaction<Tables>,
  { cancellation, item, by }: PaymentJob,
  judged: Judged | undefined,
  clock: ClockReading,
): Promise<GateAnswer> {
  // Nothing is asked for a payment that the service doesn't know.
  if (judged === undefined) return { kind: "step", step: { kind: "idle" } };
  const { businessId, workflowId: owner } = cancellation;
  const { payment, verdict, reading } = judged;
  const subject = cancelSubject(payment.id);
  const mayAsk = verdict.kind === "cancel" && judged.sends.pauseMs <= 0 && judged.sends.no === null;
  const wish: Wish | null = mayAsk ? cancelRequest(cancellation, item) : null;
  const caller = { cancellation, items: new Map([[subject, item]]) };
  return askAbout(
    trx,
    { businessId, operation: cancel, sentBy: by, owner, clock },
    { subject, wish, reading },
    (within, ...wanted) => mayCancel(within, caller, ...wanted),
  );
}

/** A cancel may not leave after 9:00 New York either. */
function cancelWithinMs(judged: Judged | undefined, clock: ClockReading): number | undefined {
  const untilMs = judged?.verdict.kind === "cancel" ? judged.verdict.untilMs : null;
  return untilMs === null ? undefined : clock.realMsUntil(untilMs);
}
