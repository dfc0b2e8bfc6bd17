import {
  NoAnswerError,
  type PaymentsApiError,
  UnexpectedAnswerError,
} from "../../src/payments-api/index.ts";
import { serviceSays } from "../../src/domain/service-words.ts";

/** A failed request for people: what was asked for, what came, and the service's own words, marked. */
export function textOfError(error: PaymentsApiError): string {
  const isOurs = error instanceof UnexpectedAnswerError || error instanceof NoAnswerError;
  if (isOurs) return error.message;
  const { method, path, status, code, words } = error;
  return `${method} ${path}: ${status ?? "no status"} ${code}.${serviceSays(words)}`;
}
