import type { Attempt } from "../../src/contracts/attempt.ts";
import { cancelSubject } from "../../src/contracts/names.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { attemptsOf } from "../../src/store/attempts.ts";
import type { SendMode } from "../../src/store/attempt-writes.ts";
import type { ActivityContext } from "../context.ts";
import { type AttemptRequest, newAttempt } from "../pay/new-attempt.ts";
import type { CancelJob } from "./job.ts";

export type FrozenCancel =
  | { readonly mode: SendMode; readonly attempt: Attempt }
  /** So many keys died one after the other: a person must look. */
  | { readonly mode: "used-up"; readonly attempt: Attempt }
  /** Another cancellation has cancelled it since the payment was read. */
  | { readonly mode: "look" };

/** Dead keys of one payment after which nothing more is tried. */
const DEAD_KEYS_MAX = 6;

/**
 * The request that cancels a payment: the live attempt at it, one that was given up and never had
 * a final answer, or a new one under the next key.
 *
 * The payment was read a moment ago and can be cancelled, so whatever the last key came to, it did
 * not cancel it.
 *
 * @param appliedBefore `appliedOf` the attempts that were known before the payment was read
 */
export async function freezeCancel(
  context: ActivityContext,
  job: CancelJob,
  payment: Payment,
  appliedBefore: number,
): Promise<FrozenCancel> {
  const { businessId, workflowId } = job.cancellation;
  const subject = cancelSubject(payment.id);
  const made = await attemptsOf(context.store.db, businessId, subject);
  if (appliedOf(made) !== appliedBefore) return { mode: "look" };
  const last = made.at(-1);
  if (last?.state === "live") return { mode: "resend", attempt: last };
  if (last?.state === "released") {
    return { mode: "revive", attempt: { ...last, owner: workflowId, state: "live" } };
  }
  const dead = made.length - 1 - made.findLastIndex(({ state }) => state !== "dead");
  if (last !== undefined && dead >= DEAD_KEYS_MAX) return { mode: "used-up", attempt: last };
  return { mode: "insert", attempt: newAttempt(requestOf(job, payment), (last?.seq ?? 0) + 1) };
}

/** Attempts that the service has said yes to. */
export function appliedOf(attempts: readonly Attempt[]): number {
  return attempts.filter(({ state }) => state === "applied").length;
}

function requestOf({ cancellation }: CancelJob, payment: Payment): AttemptRequest {
  const { businessId, workflowId, reason } = cancellation;
  return {
    businessId,
    subject: cancelSubject(payment.id),
    operation: "cancel",
    path: `/v1/payments/${encodeURIComponent(payment.id)}/cancel`,
    body: JSON.stringify({ reason: reason.slice(0, REASON_MAX) }),
    owner: workflowId,
    lineHash: "",
    contactId: payment.contactId ?? "",
    sourceId: "",
    rail: payment.paymentRail ?? "",
    amountCents: payment.amountCents,
    executionDate: (payment.scheduledAt ?? "").slice(0, 10),
    knownPaymentIds: [payment.id],
  };
}

/** API specification, section 4. */
const REASON_MAX = 500;
