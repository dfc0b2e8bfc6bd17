import { ApplicationFailure } from "@temporalio/common";
import { definedOnly } from "../../src/contracts/defined-only.ts";
import { publicText } from "../../src/domain/history-texts.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import { textOfError } from "./error-text.ts";
import { PlanRefusedError } from "./plan-refused-error.ts";

/**
 * Converts an error into Temporal's; the only place that does. Keeps a message, a type and, from a
 * 429, when to try again; never a token, a header or a body, nor the service's own words.
 */
function toApplicationFailure(error: unknown): Error {
  if (error instanceof ApplicationFailure) return error;
  if (error instanceof PlanRefusedError) {
    return ApplicationFailure.create({
      message: error.message,
      type: error.name,
      nonRetryable: true,
    });
  }
  if (error instanceof PaymentsApiError) {
    return ApplicationFailure.create({
      message: publicText(textOfError(error)),
      type: error.name,
      details: [{ code: error.code, status: error.status ?? null }],
      ...definedOnly({ nextRetryDelay: error.retryAfterMs }),
    });
  }
  if (error instanceof Error) {
    return ApplicationFailure.create({ message: publicText(error.message), type: error.name });
  }
  return ApplicationFailure.create({ message: String(error), type: "UnknownError" });
}

/** Wraps an activity so that every failure leaves it as an ApplicationFailure. */
export function inFailures<Input, Output>(
  activity: (input: Input) => Promise<Output>,
): (input: Input) => Promise<Output> {
  return async (input) => {
    try {
      return await activity(input);
    } catch (error) {
      throw toApplicationFailure(error);
    }
  };
}
