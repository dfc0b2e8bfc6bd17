import type { PlanLine } from "../../contracts/pay-run.ts";
import type { RunPaymentStatus, StageStatus } from "../../api/runs.ts";
import type { LineApproval } from "../../store/approvals/line-approvals.ts";
import { arrivalOn } from "../../domain/planning/dates.ts";
import { shownState } from "../../domain/plan-only.ts";
import type { PlannedLine } from "../../store/lines/plan-lines.ts";

/** Returns a line as people see it. */
export function paymentStatus(
  { plan, line }: PlannedLine,
  approvals: readonly LineApproval[],
): RunPaymentStatus {
  return {
    payableId: line.payableId,
    publicId: plan.publicId,
    contactId: plan.contactId,
    contactName: plan.contactName,
    amountCents: line.amountCents,
    state: shownState(line.state),
    paymentIds: line.paymentIds,
    attempts: line.attempts,
    reasonCode: line.reasonCode,
    reason: line.reason,
    dueDate: plan.dueDate,
    executionDate: line.executionDate,
    arrivalDate: arrivalOn(line.executionDate, plan),
    flags: plan.flags,
    approvers: plan.approvers,
    quorum: plan.quorum,
    approvedBy: approvals.map(({ principal }) => principal),
    ...stageStatus(plan, approvals),
  };
}

/** Returns the stages of a line's rule, if it has any, each with its approvers. */
export function stageStatus(
  { stages }: Pick<PlanLine, "stages">,
  approvals: readonly LineApproval[],
): { readonly stages?: readonly StageStatus[] } {
  if (stages === undefined) return {};
  return {
    stages: stages.map(({ by, quorum }, index) => {
      const here = approvals.filter(({ stage }) => stage === index);
      return {
        by,
        quorum,
        approvedBy: here.map(({ principal }) => principal),
        escalatedTo: here.filter(({ escalated }) => escalated).map(({ principal }) => principal),
      };
    }),
  };
}
