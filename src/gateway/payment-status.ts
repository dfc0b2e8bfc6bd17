import type { RunPaymentStatus } from "../contracts/pay-run.ts";
import type { PlannedLine } from "../store/plans.ts";

/** A line as people see it. */
export function paymentStatus(
  { plan, line }: PlannedLine,
  approvedBy: readonly string[],
): RunPaymentStatus {
  return {
    payableId: line.payableId,
    publicId: plan.publicId,
    contactName: plan.contactName,
    amountCents: line.amountCents,
    state: line.state,
    paymentIds: line.paymentIds,
    attempts: line.attempts,
    reasonCode: line.reasonCode,
    reason: line.reason,
    dueDate: plan.dueDate,
    executionDate: line.executionDate,
    arrivalDate: plan.arrivalDate,
    flags: plan.flags,
    approvers: plan.approvers,
    quorum: plan.quorum,
    approvedBy,
  };
}
