import { createHash } from "node:crypto";
import { CANCELLATION_KINDS } from "../../contracts/cancellation.ts";
import type { StopTarget } from "../holds.ts";
import type { CancelScheduledPlaybook, HoldPlaybook, Playbook } from "../../contracts/playbook.ts";

/** Default number of days after which people are notified of a late refund. */
export const REFUND_BUSINESS_DAYS = 3;

/** The playbook of a cancellation: it holds bills back, or cancels payments. */
export type CancellationPolicy = HoldPlaybook | CancelScheduledPlaybook;

/** True for a playbook whose workflow is a cancellation. */
export function isCancellationPolicy(playbook: Playbook): playbook is CancellationPolicy {
  return CANCELLATION_KINDS.some((kind) => kind === playbook.kind);
}

/** Returns the same policy with a narrower choice. */
export function narrowed<Policy extends CancellationPolicy>(
  policy: Policy,
  choice: Partial<Policy["choose"]>,
): Policy {
  return { ...policy, choose: { ...policy.choose, ...choice } };
}

/** Returns the roles that may release held-back bills; empty if the policy holds none back. */
export function releasersOf(policy: CancellationPolicy): readonly string[] {
  return policy.kind === "hold" ? policy.releasedBy : [];
}

/** Returns the reason that a hold playbook gives for each bill that it holds back. */
export function heldBackReason(playbook: string, releasedBy: readonly string[]): string {
  return `${playbook} holds it back until ${releasedBy.join(" or ")} releases it`;
}

/** Returns the payments named by id; null if the policy chooses bills. */
export function namedPayments(policy: CancellationPolicy): readonly string[] | null {
  return policy.kind === "hold" ? null : policy.choose.payments;
}

/** Returns the number of business days after which a refund takes too long. */
export function refundDaysOf(policy: CancellationPolicy): number {
  return policy.kind === "hold" ? REFUND_BUSINESS_DAYS : policy.refundBusinessDays;
}

/** Returns a policy that cancels exactly these payments. */
export function cancelOfPayments(payments: readonly string[]): CancelScheduledPlaybook {
  return {
    kind: "cancel-scheduled",
    name: "",
    business: null,
    schedule: null,
    choose: { run: null, where: null, vendor: null, payments },
    refundBusinessDays: REFUND_BUSINESS_DAYS,
  };
}

/**
 * Returns a policy that cancels every payment under way for what a hold is on.
 *
 * @param forIncident true if the hold is on an account that has an open incident
 */
export function cancelOfHeld(
  { scope, value }: StopTarget,
  holdId: string,
  forIncident = false,
): CancelScheduledPlaybook {
  const policy = cancelOfPayments([]);
  const choose = {
    ...policy.choose,
    payments: null,
    ...(scope === "contact" ? { vendor: value } : {}),
    ...(scope === "run" ? { runId: value } : {}),
    ...(scope === "source" ? { source: value } : {}),
  };
  return { ...policy, holdId, choose, ...(forIncident ? { forIncident } : {}) };
}

/** Returns a name for a request about these payments: the same for the same ones, in any order. */
export function requestOfPayments(paymentIds: readonly string[]): string {
  const sorted = [...new Set(paymentIds)].toSorted();
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex").slice(0, 16);
}
