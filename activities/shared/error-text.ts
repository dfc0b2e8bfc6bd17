import {
  NoAnswerError,
  type PaymentsApiError,
  UnexpectedAnswerError,
} from "../../src/payments-api/index.ts";
import { serviceSays } from "../../src/domain/service-words.ts";

/**
 * Describes a failed request for people: the request, the response, and the service's own words,
 * marked as such.
 */
export function textOfError(error: PaymentsApiError): string {
  const isOurs = error instanceof UnexpectedAnswerError || error instanceof NoAnswerError;
  if (isOurs) return error.message;
  const { method, path, status, code, words } = error;
  return `${method} ${path}: ${status ?? "no status"} ${code}.${serviceSays(words)}`;
}
