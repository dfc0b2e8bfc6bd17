import { FORBIDDEN_FOR_PAYMENTS } from "../../src/domain/service-waits.ts";
import { PaymentsApiError, UnexpectedAnswerError } from "../../src/payments-api/index.ts";
import { ConditionError } from "../../src/playbooks/conditions.ts";
import { isOpenSubject } from "../../src/store/payables/open-subjects.ts";
import { faultOfRead } from "../shared/business-fault.ts";
import type { ActivityContext } from "../shared/context.ts";
import type { PayJob, PayOutcome, PayOwner } from "./job.ts";

/**
 * Judges what a failed read or an unforeseen fault means for a line. This step sent nothing;
 * whether something is open is read from the ledger, never guessed.
 */
export async function outcomeOfError(
  context: ActivityContext,
  { business, businessId }: PayOwner,
  { line, plan }: PayJob,
  error: unknown,
): Promise<PayOutcome> {
  const reason = error instanceof Error ? error.message : String(error);
  const { payableId } = plan;
  const isOpen = await isOpenSubject(context.store.db, businessId, payableId);
  if (!(error instanceof PaymentsApiError)) {
    const fields = { business, runId: line.runId, payableId, reason };
    context.log.warn("a line could not be paid for an unforeseen reason", fields);
  } else {
    const wait = waitOf(error);
    if (wait !== undefined) return { ...wait, isOpen };
  }
  if (isOpen) return { kind: "unknown", waitMs: null, reason };
  if (error instanceof ConditionError) {
    return {
      kind: "parked",
      code: "condition_failed",
      reason: `What is owed, or to whom, has changed, and nobody knows who may approve that: ${reason}`,
    };
  }
  if (error instanceof PaymentsApiError) {
    if (error.status === 404) {
      return {
        kind: "parked",
        code: "not_found",
        reason: "The service doesn't know this bill or its vendor any more.",
      };
    }
    // Another read would get the same answer, and nobody would be notified.
    if (isLasting(error)) {
      return {
        kind: "parked",
        code: "unreadable",
        reason: `The service's answer about this bill or its vendor can't be used: ${reason}. Have it fixed there, then try it again.`,
      };
    }
  }
  return { kind: "back", waitMs: null, reason: `It could not be read or planned: ${reason}` };
}

/**
 * True if no other try changes the answer to a read: a record of another shape, or a refused
 * request.
 */
function isLasting(error: PaymentsApiError): boolean {
  if (error instanceof UnexpectedAnswerError) return error.isJson && error.status === 200;
  const { status } = error;
  return status !== undefined && status >= 400 && status < 500 && status !== 408;
}

/** Returns a fault of the whole business; undefined if only this bill is at fault. */
function waitOf(error: PaymentsApiError) {
  // A missing scope stands until a payment has gone through: another read says nothing about it.
  const fault = error.status === undefined ? undefined : faultOfRead(error, FORBIDDEN_FOR_PAYMENTS);
  return fault === undefined ? undefined : { ...fault, scope: "business" as const };
}
