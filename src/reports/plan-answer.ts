import { payRunId, shortName } from "../contracts/workflow-kinds.ts";
import type { DryPlanPage, PlanLine } from "../contracts/pay-run.ts";
import { DryPlanBody, type RunPaymentStatus } from "../api/runs.ts";
import { leftOutLine } from "./status/left-out.ts";
import { stageStatus } from "./status/payment.ts";

/**
 * Returns a dry plan in the shape of a run's status, so that a reader of one can read the other:
 * `payments` has every bill of the page, `planned` or `skipped` with its reason; beside them the
 * plan's own details. Counts are over all pages.
 *
 * @param told.joins the run that a launch would join instead of paying anything of the plan
 * @param told.warnings warnings in addition to the plan's own
 */
export function planAnswer(
  plan: DryPlanPage,
  told: {
    readonly zone: string;
    readonly warnings?: readonly string[];
    readonly joins?: string | undefined;
  },
) {
  const { business, playbook, period, lines, skipped, lineCount, skippedCount } = plan;
  const warnings = [
    ...(plan.warnings ?? []),
    ...(told.warnings ?? []),
    ...(told.joins === undefined ? [] : [joinsText(told.joins, playbook)]),
  ];
  return {
    id: payRunId(business, playbook, period, 1),
    kind: "pay-run" as const,
    phase: "planning" as const,
    waitingFor: null,
    counts: {
      ...(lineCount === 0 ? {} : { planned: lineCount }),
      ...(skippedCount === 0 ? {} : { skipped: skippedCount }),
    },
    ...plan,
    zone: told.zone,
    ...(warnings.length === 0 ? {} : { warnings }),
    lines: SHOWN_LINES.parse(lines),
    payments: [...lines.map(planned), ...skipped.map(leftOutLine)],
  };
}

/** Leaves out of a line what only the engine needs of it. */
const SHOWN_LINES = DryPlanBody.shape.lines;

function joinsText(runId: string, playbook: string): string {
  return `${shortName(runId)} was launched already: a launch joins it, and pays nothing of this plan. “payrun pay BILL --playbook ${playbook}” pays a bill by itself; “payrun launch ${playbook} --period DATE” launches another period.`;
}

function planned(line: PlanLine): RunPaymentStatus {
  return {
    payableId: line.payableId,
    publicId: line.publicId,
    contactId: line.contactId,
    contactName: line.contactName,
    amountCents: line.amountCents,
    state: "planned",
    paymentIds: [],
    attempts: 0,
    reasonCode: line.overLimit?.code ?? null,
    reason: line.overLimit?.text ?? null,
    dueDate: line.dueDate,
    executionDate: line.executionDate,
    arrivalDate: line.arrivalDate,
    flags: line.flags,
    approvers: line.approvers,
    quorum: line.quorum,
    approvedBy: [],
    ...stageStatus(line, []),
  };
}
