import { PaymentsApiError, UnexpectedAnswerError } from "../../src/payments-api/index.ts";
import { openSubjects } from "../../src/store/open-subjects.ts";
import type { ActivityContext } from "../context.ts";
import type { PayJob, PayOutcome, PayOwner } from "./job.ts";

/**
 * What a failed read or an unforeseen fault means for a line: nothing was sent by this step. Whether
 * something is open is asked of the ledger, never guessed.
 */
export async function outcomeOfError(
  context: ActivityContext,
  { business, businessId }: PayOwner,
  { plan }: PayJob,
  error: unknown,
): Promise<PayOutcome> {
  const reason = error instanceof Error ? error.message : String(error);
  const { payableId } = plan;
  if (error instanceof PaymentsApiError) {
    const { status, retryAfterMs } = error;
    if (status === 429) return wait("rate_limited", "The service asked to slow down.", retryAfterMs);
    if (status === 401) return wait("unauthorized", "The service refuses the token (401). Renew it.");
    if (status === 403) return wait("forbidden", `The token lacks a scope (403): ${reason}`);
  } else {
    context.log.warn("a line could not be paid for an unforeseen reason", {
      business,
      payableId,
      error: reason,
    });
  }
  const { db } = context.store;
  const isOpen = (await openSubjects(db, businessId, [payableId])).has(payableId);
  if (isOpen) return { kind: "unknown", restMs: null, reason };
  if (error instanceof PaymentsApiError) {
    if (error.status === 404) {
      return {
        kind: "parked",
        code: "not-found",
        reason: "The service doesn't know this bill or its vendor any more.",
      };
    }
    // To ask again would get the same answer, with nobody hearing of it.
    if (isLasting(error)) {
      return {
        kind: "parked",
        code: "unreadable",
        reason: `The service's answer about this bill or its vendor can't be used: ${reason}. Have it mended there, then resolve --retry.`,
      };
    }
  }
  return { kind: "back", restMs: null, reason: `It could not be read or planned: ${reason}` };
}

/** Answers to a read that no other try changes: a record of another shape, or a refusal of the request. */
function isLasting(error: PaymentsApiError): boolean {
  if (error instanceof UnexpectedAnswerError) return error.isJson && error.status === 200;
  const { status } = error;
  return status !== undefined && status >= 400 && status < 500 && status !== 408;
}

function wait(code: string, message: string, retryAfterMs?: number): PayOutcome {
  return {
    kind: "business-wait",
    code,
    scope: "business",
    message,
    retryAfterMs: retryAfterMs ?? null,
  };
}
