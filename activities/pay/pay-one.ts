import { setTimeout as delay } from "node:timers/promises";
import { pay } from "../../src/ledger/operations.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import type { TimeLimit } from "../../src/payments-api/index.ts";
import type { ActivityContext } from "../shared/context.ts";
import { type Again, afterAnswer, paid } from "./after-answer.ts";
import { askToPay, withoutSend } from "./ask-gate.ts";
import type { PayJob, PayOutcome, PayOwner, PreparedJob } from "./job.ts";
import { prepareLine } from "./judge-line.ts";
import { leave, leaveLimit, recordAnswer } from "./leave.ts";
import { readBill } from "./read-bills.ts";

/**
 * Pauses between the sends of one lease; further sends belong to a later lease, which reads anew.
 */
const AGAIN_AFTER_MS = [500, 2_000];

/** A line that the gate has let through, with the limit within which its bytes may leave. */
export interface OpenedJob {
  readonly job: PreparedJob;
  readonly send: OpenedSend;
  readonly limit: TimeLimit;
}

/**
 * Pays one leased line, at most once, whatever happened to it before: reads, asks the gate, sends,
 * and asks again, a few times, while the answer leaves its effect open.
 *
 * Never throws because of the service's answer to the payment: that is the outcome.
 *
 * @param opened the first send, if the gate has let it through already
 */
export async function payOne(
  context: ActivityContext,
  owner: PayOwner,
  job: PayJob,
  opened?: OpenedJob,
): Promise<PayOutcome> {
  let through = opened;
  for (let sends = 0; ; sends += 1) {
    if (through === undefined) {
      const asked = await readAndAsk(context, owner, job);
      if ("outcome" in asked) return asked.outcome;
      through = asked;
    }
    const next = await sendOnce(context, owner, through);
    if (next.kind !== "again") return next;
    const pauseMs = sends < AGAIN_AFTER_MS.length ? (next.pauseMs ?? AGAIN_AFTER_MS[sends]) : null;
    if (pauseMs === null || pauseMs === undefined) return next.outcome;
    await delay(pauseMs);
    through = undefined;
  }
}

async function readAndAsk(
  context: ActivityContext,
  owner: PayOwner,
  job: PayJob,
): Promise<OpenedJob | { readonly outcome: PayOutcome }> {
  const read = await readBill(context, owner, job, await clockOf(context, owner));
  const clock = await clockOf(context, owner);
  const prepared = prepareLine(owner, job, read, clock);
  const limit = leaveLimit();
  const answers = await context.store.transactionOf(owner.businessId, (trx) =>
    askToPay(context, trx, owner, [prepared], clock),
  );
  const answer = answers.get(job.plan.payableId);
  if (answer === undefined) throw new Error(`the gate said nothing of ${job.plan.payableId}`);
  return answer.kind === "open"
    ? { job: prepared, send: answer.send, limit }
    : { outcome: withoutSend(owner, prepared, answer, clock) };
}

function clockOf(context: ActivityContext, { business }: PayOwner) {
  return context.clockOf(business).now();
}

/**
 * Sends what the gate let through. Records every result here except success, which is recorded
 * later, with its line.
 */
async function sendOnce(
  context: ActivityContext,
  owner: PayOwner,
  { send, limit }: OpenedJob,
): Promise<PayOutcome | Again> {
  const { judged } = await leave(context, owner.business, pay, send, limit);
  const { means } = judged;
  if (means.kind === "applied") return paid(send, judged, means.payments);
  const isOpen = await context.store.transactionOf(owner.businessId, (trx) =>
    recordAnswer(trx, send, judged),
  );
  return afterAnswer(means, isOpen);
}
