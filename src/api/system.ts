import { z } from "@hono/zod-openapi";
import { type ErrorStatus, errorCodesOf } from "../contracts/error-codes.ts";
import { STORE_STATES } from "../domain/store-states.ts";

/** The body of every answer of the gateway that isn't a success; codes of later versions parse. */
export const ErrorBody = z.object({
  error: z.string(),
  message: z.string(),
  details: z.unknown().optional(),
});

const forPeople = z.string().describe("One sentence for people");

const MISTAKES = z
  .array(z.object({ field: z.string().nullable(), message: z.string() }))
  .optional()
  .describe("What is wrong with each field, by its path; null for the whole body");

/** Returns the body of refusals with a status, as the API's description shows it. */
function refusalBody(status: ErrorStatus) {
  const [first = "", ...others] = errorCodesOf(status);
  return z
    .object({
      error: z
        .enum([first, ...others])
        .describe("For programs: docs/codes.md says what each means"),
      message: forPeople,
      details: status === 400 ? MISTAKES : z.unknown().optional(),
    })
    .openapi(`Error${status}`);
}

/** The bodies of refusals, by status. */
export const REFUSAL_BODIES = {
  400: refusalBody(400),
  401: refusalBody(401),
  403: refusalBody(403),
  404: refusalBody(404),
  409: refusalBody(409),
  413: refusalBody(413),
  415: refusalBody(415),
  422: refusalBody(422),
  429: refusalBody(429),
  500: refusalBody(500),
  502: refusalBody(502),
  503: refusalBody(503),
  504: refusalBody(504),
} as const satisfies Readonly<Record<ErrorStatus, z.ZodType>>;

export const HealthBody = z.object({ status: z.literal("ok") });

export const ReadyBody = z.object({
  status: z.enum(["ready", "not-ready"]),
  store: z
    .enum(STORE_STATES)
    .describe(
      "ok: it can be written. Otherwise why not: unreachable, replaced (its file is no longer the one that was opened), locked (by another process), full (its disk), read_only (its server or file), refused (the database's user), failing",
    ),
  temporal: z.enum(["ok", "unreachable"]),
  workers: z
    .enum(["ok", "silent", "none", "unknown"])
    .describe("ok, silent (all frozen or gone), none, or unknown"),
  reason: z.string().optional().describe("Why it is not ready"),
});

/** The answer to a webhook that was stored, or had been stored before. */
export const WebhookBody = z.object({ eventId: z.string(), duplicate: z.boolean() });
