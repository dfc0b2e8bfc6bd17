import { z } from "@hono/zod-openapi";
import { STORE_STATES } from "../domain/store-states.ts";

/** The body of every answer of the gateway that isn't a success. */
export const ErrorBody = z
  .object({
    error: z.string().describe("Lower snake case, for programs"),
    message: z.string().describe("One sentence for people"),
    details: z.unknown().optional(),
  })
  .openapi("Error");

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
