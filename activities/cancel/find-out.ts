import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { holdsOfCancellation } from "../../src/domain/cancellations/holds-of-cancellation.ts";
import { mayYetBeCancelled } from "../../src/domain/cancellations/judge-payment.ts";
import { ofBill } from "../../src/domain/payments/whose.ts";
import { lookupWaitMs } from "../../src/domain/cancellations/lookup-wait.ts";
import { isApplied, madeIdsOf } from "../../src/ledger/derive.ts";
import type { KeyedAttempt } from "../../src/ledger/facts.ts";
import { type GateStep, lookupOnly } from "../../src/ledger/gate.ts";
import { pay } from "../../src/ledger/operations.ts";
import { readPayments } from "../../src/ledger/readings.ts";
import { subjectFacts } from "../../src/ledger/rows.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { activeHolds } from "../../src/store/holds/holds.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import type { ActivityContext } from "../shared/context.ts";
import { backOff } from "../shared/back-off.ts";
import { type CancelOutcome, ended, type UnderWayJob, unknown } from "./job.ts";
import { recordCancel } from "./record-cancel.ts";

/**
 * Finds out what came of a request that was under way when its bill was put on hold.
 *
 * The hold keeps every sender from sending it again, so this ends: the sender gets the answer, the
 * service shows the payment, or a lookup that is late enough to be conclusive shows none.
 */
export async function findOut(context: ActivityContext, job: UnderWayJob): Promise<CancelOutcome> {
  const { business, businessId } = job.cancellation;
  const { db } = context.store;
  const { payableId } = job.item;
  const clocks = context.clockOf(business);
  const read = await readPayments(context.clientOf(business), db, await clocks.now(), payableId);
  const clock = await clocks.now();
  return context.store.transactionOf(businessId, async (trx) => {
    const outcome = (await isHeld(trx, job, clock))
      ? await whatCame(trx, job, read, clock)
      : ended("released", "Its hold was lifted before it was known what came of its request.");
    return recordCancel(trx, job, outcome, clock);
  });
}

async function isHeld(
  trx: Transaction<Tables>,
  { cancellation, item }: UnderWayJob,
  { businessMs }: ClockReading,
): Promise<boolean> {
  const holds = await activeHolds(trx, cancellation.businessId, businessMs);
  return holdsOfCancellation(cancellation.policy, holds).has(item.payableId);
}

type Read = Awaited<ReturnType<typeof readPayments>>;

async function whatCame(
  trx: Transaction<Tables>,
  { cancellation, item, by }: UnderWayJob,
  { reading, payments }: Read,
  clock: ClockReading,
): Promise<CancelOutcome> {
  const { businessId, workflowId: owner, requestedAtMs } = cancellation;
  const { payableId: subject } = item;
  const caller = { businessId, operation: pay, sentBy: by, owner, clock };
  const step = await lookupOnly(trx, caller, subject, reading);
  const { attempts } = await subjectFacts(trx, businessId, subject);
  const last = attempts.at(-1);
  // Anything that may still come of it comes under the same key, and so makes no further payment.
  if (last !== undefined && isApplied(last)) return made(madeIdsOf(last), payments, last);
  if (step.kind !== "idle" && step.kind !== "person") {
    const mostMs = step.kind === "wait" ? step.waitMs : 0;
    const waitMs = Math.min(mostMs, lookupWaitMs(clock.realMs - requestedAtMs));
    const reason =
      "Its request has no answer yet, and the service shows no payment; looking again.";
    return backOff(Math.max(LEAST_WAIT_MS, waitMs), reason);
  }
  // A payment that names another bill is none of what a cancel of this one may take back.
  const ofThis = ofBill(subject, payments, attempts.flatMap(madeIdsOf));
  return ofOthers(step, ofThis, attempts);
}

const LEAST_WAIT_MS = 1_000;

/**
 * Judges a bill for which no request of ours is under way. Another party may have paid it; the
 * cancellation covers that payment as well.
 */
function ofOthers(
  step: Extract<GateStep, { readonly kind: "idle" | "person" }>,
  payments: readonly Payment[],
  attempts: readonly KeyedAttempt[],
): CancelOutcome {
  const last = attempts.at(-1);
  if (last === undefined) return ended("withheld", "No request of it is known: nothing was sent.");
  const before = new Set(last.sends.flatMap(({ baseline }) => baseline));
  const others = payments
    .filter(({ id, status }) => mayYetBeCancelled(status) && !before.has(id))
    .map(({ id }) => id);
  if (others.length > 0) return made(others, payments, last);
  if (step.kind === "person") return unknown(`${step.reason} Ask the service.`);
  const code = last.sends.findLast((send) => send.code !== null)?.code;
  if (code !== undefined) {
    return ended("withheld", `Its request came to nothing (${code}): no payment was made.`);
  }
  return ended(
    "withheld",
    "Its request has no answer, and the service shows no payment: none was made.",
  );
}

function made(
  ids: readonly string[],
  shown: readonly Payment[],
  attempt: KeyedAttempt | undefined,
): CancelOutcome {
  const only = ids.length === 1 ? (attempt?.sends.at(-1)?.amountCents ?? 0) : 0;
  const payments = ids.map((paymentId) => ({
    paymentId,
    amountCents: shown.find(({ id }) => id === paymentId)?.amountCents ?? only,
  }));
  return { kind: "made", payments };
}
