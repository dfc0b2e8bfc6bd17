import { z } from "zod";
import { invalid } from "../http/api-error.ts";
import type { SandboxContext } from "../context.ts";

/** How far a person's clock may be ahead of the service's. */
const clockDriftMs = 5 * 60_000;

/** The name of a person who signs or certifies. */
export const givenName = z.string().trim().min(1).max(200);

const instantOrDate = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

/** When a person acted: an ISO 8601 instant with its offset, or a date. */
export const actedAt = z
  .string()
  .refine((text) => instantOrDate.safeParse(text).success, {
    error: "must be an ISO 8601 instant with its offset, or a date",
  })
  .meta({ description: "ISO 8601: an instant with its offset, or a date." });

/** @throws {ApiError} 422 if the time is in the future by whichever clock is furthest ahead. */
export function refuseFuture(ctx: SandboxContext, field: string, text: string): void {
  const latestMs = Math.max(ctx.clock.bankNow(), ctx.clock.wireNow(), Date.now()) + clockDriftMs;
  if (Date.parse(text) > latestMs) throw invalid(field, `${field} is in the future`);
}
