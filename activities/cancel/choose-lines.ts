import type { BillChoice } from "../../src/contracts/playbook.ts";
import { REVIEW_REASONS } from "../../src/contracts/playbook.ts";
import { LINE } from "../../src/contracts/line-states.ts";
import type { PlanLine } from "../../src/contracts/pay-run.ts";
import type { Steps } from "../../src/domain/steps.ts";
import { ConditionError, evaluateCondition } from "../../src/playbooks/conditions.ts";
import type { Cancellation } from "../../src/store/cancellations/cancellations.ts";
import type { Db } from "../../src/store/sql/db.ts";
import { linesUnderWay } from "../../src/store/lines/lines-under-way.ts";
import type { RunLine } from "../../src/store/lines/lines.ts";
import { getPlanLines, type PlannedLine } from "../../src/store/lines/plan-lines.ts";
import { inTurns } from "../shared/in-turns.ts";

/** True if the line names the payments that the service has. */
export function isScheduled({ state }: RunLine): boolean {
  return LINE.recallable.includes(state);
}

/**
 * True if a lane or a retry is working on the line, even if the ledger has no request of it yet.
 */
export function isLeased({ state, leaseUntilMs }: RunLine, nowMs: number): boolean {
  return LINE.leased.includes(state) || (leaseUntilMs !== null && leaseUntilMs >= nowMs);
}

/**
 * Returns the lines that a cancellation chooses and for which the service may have a payment to
 * cancel, those that are paid soonest first.
 */
export async function linesToCancel(
  db: Db,
  { businessId, policy: { choose } }: Cancellation,
): Promise<PlannedLine[]> {
  const { run: playbook, vendor: contactId, payable: payableId = null } = choose;
  const { runId = null, source: sourceId = null } = choose;
  const of = { playbook, contactId, payableId, runId, sourceId };
  const lines = await linesUnderWay(db, businessId, of);
  const chosen: PlannedLine[] = [];
  for (const [runId, ofRun] of Map.groupBy(lines, (line) => line.runId)) {
    const payableIds = ofRun.map((line) => line.payableId);
    chosen.push(...(await linesOfRun(db, choose, runId, { payableIds })));
  }
  return chosen.toSorted(({ line: one }, { line: other }) =>
    one.executionDate < other.executionDate ? -1 : 1,
  );
}

/**
 * Returns every line of a run that a cancellation chooses, whatever its state: of the given bills,
 * or of all.
 */
export async function linesOfRun(
  db: Db,
  { vendor, payable = null, where }: BillChoice,
  runId: string,
  some: { readonly payableIds?: readonly string[] } = {},
): Promise<PlannedLine[]> {
  const lines = await getPlanLines(db, runId, some);
  const meant = lines.filter(
    ({ line }) =>
      (vendor === null || line.contactId === vendor) &&
      (payable === null || line.payableId === payable),
  );
  return inTurns(matching(meant, where));
}

function* matching(lines: readonly PlannedLine[], where: string | null): Steps<PlannedLine[]> {
  const chosen: PlannedLine[] = [];
  for (const planned of lines) {
    if (matches(where, planned.plan)) chosen.push(planned);
    yield;
  }
  return chosen;
}

/**
 * True if the condition holds, or can't be evaluated for the bill: keeping money back is the safe
 * side.
 */
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
