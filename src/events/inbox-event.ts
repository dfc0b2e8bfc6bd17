import { createHash } from "node:crypto";
import type { BusinessProfile } from "../config/business-profile.ts";
import { parseJson } from "../payments-api/answers.ts";
import { UNREADABLE } from "../payments-api/index.ts";
import { eventSchema, type WebhookEvent } from "../payments-api/schemas/event.ts";

/** An event as it is kept. */
export type KeptEvent = WebhookEvent & { readonly id: string };

/**
 * Reads an event's envelope (API specification, section 6). Unknown types pass. An event whose id
 * can't be read is told from others by its body, which is the same on every attempt.
 */
export function parseEvent(
  body: string,
): { ok: true; event: KeptEvent } | { ok: false; problem: string } {
  const parsed = eventSchema.safeParse(parseJson(body));
  if (!parsed.success) return { ok: false, problem: "The body is not a JSON object." };
  const hash = () => createHash("sha256").update(body).digest("hex").slice(0, 32);
  const id = parsed.data.id ?? `${UNREADABLE}-${hash()}`;
  return { ok: true, event: { ...parsed.data, id } };
}

/** Returns the inbox row of an event. */
export function inboxEvent(
  profile: BusinessProfile,
  event: KeptEvent,
  body: string,
  via: "webhook" | "deliveries",
  receivedAtMs: number,
) {
  return {
    businessId: profile.businessId,
    eventId: event.id,
    type: event.type,
    sequence: event.sequence ?? "0",
    object: event.data.object ?? "",
    objectId: event.data.id ?? "",
    createdAt: event.createdAt ?? "",
    receivedAtMs,
    via,
    body,
  };
}
