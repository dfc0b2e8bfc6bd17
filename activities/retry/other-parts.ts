import { wakeUp, wakeWorkflow } from "../../src/domain/facts/fact.ts";
import { LINE_MOVED } from "../../src/domain/facts/lines.ts";
import { record } from "../../src/store/facts/record.ts";
import { byWorkflow } from "../../src/contracts/authors.ts";
import type { Transaction } from "kysely";
import { ENDED_PHASES } from "../../src/contracts/pay-run.ts";
import { classifyFailures } from "../../src/domain/payments/failure-policy.ts";
import { changeLine, getRunLine } from "../../src/store/lines/lines.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { notifyOfParked } from "../notify/parked-lines.ts";
import type { PaymentOfCase, CaseSubject } from "./take-over.ts";

/**
 * Parks other runs' parts of a bill that came back while something else of the bill is being paid
 * or looked after: the reports of those runs say so, people are notified, and the run that plans
 * the bill next finds it owed.
 */
export async function parkOtherParts(
  trx: Transaction<Tables>,
  parts: {
    readonly subject: CaseSubject;
    readonly payments: readonly PaymentOfCase[];
    readonly runIds: readonly string[];
    readonly nowMs: number;
  },
): Promise<void> {
  const { subject, payments, runIds, nowMs } = parts;
  const { businessId, payableId, workflowId } = subject;
  for (const runId of runIds) {
    const line = await getRunLine(trx, runId, payableId);
    const run = await getRun(trx, runId);
    const failures = payments
      .filter(({ id, status }) => line?.paymentIds.includes(id) === true && isFailure(status))
      .map(({ failureReason }) => ({ failureReason: failureReason ?? null }));
    if (line === undefined || run === undefined || failures.length === 0) continue;
    const { code } = classifyFailures(failures);
    const failure = failures[0]?.failureReason ?? "no reason given";
    const reasonCode = code ?? "unknown_reason";
    const reason = `${failure}. It came back after it had settled, while another payment of the bill is looked after: the next run asks for a new approval of what is owed then.`;
    const change = { state: "parked", reasonCode, reason } as const;
    if (!(await changeLine(trx, line, change, nowMs, { from: ["settled"] }))) continue;
    const head = { businessId, nowMs, by: byWorkflow(workflowId), subject: payableId };
    await record(trx, LINE_MOVED.parked(head, { from: "settled", reasonCode, runId }));
    if (ENDED_PHASES.includes(run.phase)) await notifyOfParked(trx, run, { nowMs, isLast: true });
    else await record(trx, wakeUp(businessId, wakeWorkflow(runId)));
  }
}

function isFailure(status: string): boolean {
  return status === "failed" || status === "returned";
}
