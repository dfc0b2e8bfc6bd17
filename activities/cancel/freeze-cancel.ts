import { randomUUID } from "node:crypto";
import type { Attempt } from "../../src/contracts/attempt.ts";
import { cancelSubject } from "../../src/contracts/names.ts";
import { idempotencyKey } from "../../src/domain/attempts/key.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { attemptsOf } from "../../src/store/attempts.ts";
import type { ActivityContext } from "../context.ts";
import type { CancelJob } from "./job.ts";

export type FrozenCancel =
  | { readonly mode: "insert" | "revive" | "resend"; readonly attempt: Attempt }
  /** So many keys died one after the other: a person must look. */
  | { readonly mode: "used-up"; readonly attempt: Attempt };

/** Dead keys of one payment after which nothing more is tried. */
const DEAD_KEYS_MAX = 6;

/**
 * The request that cancels a payment: the live attempt at it, one that was given up and never had
 * a final answer, or a new one under the next key.
 *
 * The payment was read a moment ago and can be cancelled, so whatever the last key came to, it did
 * not cancel it.
 */
export async function freezeCancel(
  context: ActivityContext,
  job: CancelJob,
  payment: Payment,
): Promise<FrozenCancel> {
  const { businessId, workflowId } = job.cancellation;
  const subject = cancelSubject(payment.id);
  const made = await attemptsOf(context.store.db, businessId, subject);
  const last = made.at(-1);
  if (last?.state === "live") return { mode: "resend", attempt: last };
  if (last?.state === "released") {
    return { mode: "revive", attempt: { ...last, owner: workflowId, state: "live" } };
  }
  const dead = made.length - 1 - made.findLastIndex(({ state }) => state !== "dead");
  if (last !== undefined && dead >= DEAD_KEYS_MAX) return { mode: "used-up", attempt: last };
  return { mode: "insert", attempt: newAttempt(job, payment, (last?.seq ?? 0) + 1) };
}

function newAttempt(job: CancelJob, payment: Payment, seq: number): Attempt {
  const { businessId, workflowId, reason } = job.cancellation;
  const subject = cancelSubject(payment.id);
  return {
    attemptId: randomUUID(),
    businessId,
    subject,
    seq,
    operation: "cancel",
    method: "POST",
    path: `/v1/payments/${encodeURIComponent(payment.id)}/cancel`,
    body: JSON.stringify({ reason: reason.slice(0, REASON_MAX) }),
    idempotencyKey: idempotencyKey(businessId, subject, seq),
    owner: workflowId,
    lineHash: "",
    contactId: payment.contactId ?? "",
    sourceId: "",
    rail: payment.paymentRail ?? "",
    amountCents: payment.amountCents,
    executionDate: (payment.scheduledAt ?? "").slice(0, 10),
    knownPaymentIds: [payment.id],
    sends: [],
    state: "live",
    firstSentAtMs: null,
    lastSentAtMs: null,
    gaveUpAtMs: null,
    lookedUpAtMs: null,
    paymentIds: [],
    answer: null,
  };
}

/** API specification, section 4. */
const REASON_MAX = 500;
