import type { CancelChoice } from "../../src/contracts/playbook.ts";
import { REVIEW_REASONS } from "../../src/contracts/playbook.ts";
import type { LineState, PlanLine } from "../../src/contracts/pay-run.ts";
import { ConditionError, evaluateCondition } from "../../src/playbooks/conditions.ts";
import type { Cancellation } from "../../src/store/cancellations.ts";
import { planLinesOf, type RunLine, toRunLine } from "../../src/store/lines.ts";
import type { ActivityContext } from "../context.ts";

const SCHEDULED: readonly LineState[] = ["scheduled", "held"];

/** States in which the service may have a payment that the line doesn't show yet. */
const MAY_BE_SCHEDULED: readonly LineState[] = ["paying", "unknown", "retrying", "parked"];

/** A run's line with what was planned for it. */
export interface PlannedLine {
  readonly line: RunLine;
  readonly plan: PlanLine;
}

/** What the service has scheduled, or may have, of the lines that a cancellation chooses. */
export interface ScheduledLines {
  readonly paymentIds: readonly string[];
  /** Bills of which only the service can say what is scheduled. */
  readonly payableIds: readonly string[];
}

export async function scheduledLines(
  context: ActivityContext,
  { businessId, policy }: Cancellation,
): Promise<ScheduledLines> {
  let query = context.store.db
    .selectFrom("run_lines")
    .innerJoin("runs", "runs.run_id", "run_lines.run_id")
    .selectAll("run_lines")
    .where("run_lines.business_id", "=", businessId)
    .where("run_lines.state", "in", [...SCHEDULED, ...MAY_BE_SCHEDULED]);
  if (policy.choose.run !== null) query = query.where("runs.playbook", "=", policy.choose.run);
  const rows = await query.orderBy("run_lines.execution_date").execute();
  const chosen = await chosenOf(context, policy.choose, rows.map(toRunLine));
  const lines = chosen.map(({ line }) => line);
  const known = lines.filter(({ state }) => SCHEDULED.includes(state));
  const unclear = lines.filter(({ state }) => MAY_BE_SCHEDULED.includes(state));
  return {
    paymentIds: known.flatMap(({ paymentIds }) => paymentIds),
    payableIds: [...new Set(unclear.map(({ payableId }) => payableId))],
  };
}

/** Every line of a run that a cancellation chooses, whatever its state. */
export async function linesOfRun(
  context: ActivityContext,
  choose: CancelChoice,
  runId: string,
): Promise<PlannedLine[]> {
  const rows = await context.store.db
    .selectFrom("run_lines")
    .selectAll()
    .where("run_id", "=", runId)
    .orderBy("line_no")
    .execute();
  return chosenOf(context, choose, rows.map(toRunLine));
}

async function chosenOf(
  context: ActivityContext,
  choose: CancelChoice,
  lines: readonly RunLine[],
): Promise<PlannedLine[]> {
  const { vendor, payable = null } = choose;
  const wanted = lines.filter(
    ({ contactId, payableId }) =>
      (vendor === null || contactId === vendor) && (payable === null || payableId === payable),
  );
  const runIds = [...new Set(wanted.map(({ runId }) => runId))];
  const chosen: PlannedLine[] = [];
  for (const runId of runIds) {
    const mine = wanted.filter((line) => line.runId === runId);
    const ids = mine.map(({ payableId }) => payableId);
    const plans = await planLinesOf(context.store.db, runId, ids);
    const planOf = new Map(plans.map((plan) => [plan.payableId, plan]));
    for (const line of mine) {
      const plan = planOf.get(line.payableId);
      if (plan !== undefined && matches(choose.where, plan)) chosen.push({ line, plan });
    }
  }
  return chosen;
}

/** What can't be answered for a bill is chosen: keeping money back is the safe side. */
function matches(where: string | null, plan: PlanLine): boolean {
  const flags = plan.flags.map(({ kind }) => kind);
  if (where === null) return true;
  if (where === "review") return REVIEW_REASONS.some((reason) => flags.includes(reason));
  try {
    return evaluateCondition(where, {
      id: plan.payableId,
      publicId: plan.publicId,
      description: plan.description,
      customNumber: null,
      amountCents: plan.amountCents,
      totalAmountCents: plan.totalCents,
      amountPaidCents: plan.totalCents - plan.amountCents,
      dueDate: plan.dueDate,
      issueDate: null,
      status: "approved",
      paymentStatus: "none",
      vendor: {
        id: plan.contactId,
        name: plan.contactName,
        type: null,
        netTerms: null,
        bankLast4: plan.bankLast4,
      },
      flags,
    });
  } catch (error) {
    if (error instanceof ConditionError) return true;
    throw error;
  }
}
