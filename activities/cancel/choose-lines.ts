import type { BillChoice } from "../../src/contracts/playbook.ts";
import { REVIEW_REASONS } from "../../src/contracts/playbook.ts";
import type { LineState, PlanLine } from "../../src/contracts/pay-run.ts";
import { ConditionError, evaluateCondition } from "../../src/playbooks/conditions.ts";
import type { Cancellation } from "../../src/store/cancellations.ts";
import type { Db } from "../../src/store/db.ts";
import { linesUnderWay } from "../../src/store/lines-under-way.ts";
import { planLinesOf, type RunLine, toRunLine } from "../../src/store/lines.ts";

const SCHEDULED: readonly LineState[] = ["scheduled", "held"];

/** A lane has drawn it. */
const DRAWN: readonly LineState[] = ["paying", "unknown"];

/** True where the line names what the service has. */
export function isScheduled({ state }: RunLine): boolean {
  return SCHEDULED.includes(state);
}

/** True where a lane or a retry is at a line, also with no request of it in the ledger yet. */
export function isDrawn({ state, leaseUntilMs }: RunLine, nowMs: number): boolean {
  return DRAWN.includes(state) || (leaseUntilMs !== null && leaseUntilMs > nowMs);
}

/** A run's line with what was planned for it. */
export interface PlannedLine {
  readonly line: RunLine;
  readonly plan: PlanLine;
}

/**
 * Lines that a cancellation chooses and of which the service may have a payment to cancel, what is
 * paid soonest first.
 */
export async function linesToCancel(
  db: Db,
  { businessId, policy: { choose } }: Cancellation,
): Promise<RunLine[]> {
  const lines = await linesUnderWay(db, businessId, {
    playbook: choose.run,
    contactId: choose.vendor,
    payableId: choose.payable ?? null,
  });
  const chosen = (await chosenOf(db, choose, lines)).map(({ line }) => line);
  return chosen.toSorted((one, other) => (one.executionDate < other.executionDate ? -1 : 1));
}

/** Every line of a run that a cancellation chooses, whatever its state. */
export async function linesOfRun(
  db: Db,
  choose: BillChoice,
  runId: string,
): Promise<PlannedLine[]> {
  const rows = await db
    .selectFrom("run_lines")
    .selectAll()
    .where("run_id", "=", runId)
    .orderBy("line_no")
    .execute();
  return chosenOf(db, choose, rows.map(toRunLine));
}

async function chosenOf(
  db: Db,
  choose: BillChoice,
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
    const plans = await planLinesOf(db, runId, ids);
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
