import { z } from "zod";
import type { ErrorStatus } from "../../contracts/error-codes.ts";
import { REFUSAL_BODIES } from "../../api/system.ts";

const DESCRIPTIONS: Readonly<Record<ErrorStatus, string>> = {
  400: "Malformed: `details` names the fields.",
  401: "No valid token.",
  403: "The token lacks the role.",
  404: "What is named does not exist, or the token does not cover it.",
  409: "It can't be done as things stand: `error` says which and `message` why.",
  413: "Too large.",
  415: "Not JSON.",
  422: "Well-formed, but it can't be done as asked: `message` says why.",
  429: "Too many requests: Retry-After says when to come back.",
  500: "Something failed in the gateway.",
  502: "The service did not answer as expected: `message` says how.",
  503: "The store, Temporal or the service doesn't answer: ask again later.",
  504: "It took too long.",
};

const RetryAfter = z.object({ "Retry-After": z.int().describe("Seconds") });

/** Returns refusals with these statuses as the API's description shows them. */
export function refusalAnswers(
  statuses: readonly ErrorStatus[],
  said: Partial<typeof DESCRIPTIONS> = {},
): Record<string, object> {
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      {
        description: said[status] ?? DESCRIPTIONS[status],
        ...(status === 429 || status === 503 ? { headers: RetryAfter } : {}),
        content: { "application/json": { schema: REFUSAL_BODIES[status] } },
      },
    ]),
  );
}
