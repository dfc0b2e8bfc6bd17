import type { BusinessProfile } from "../config/business-profile.ts";
import { eventSchema, type WebhookEvent } from "../payments-api/schemas/event.ts";

/** Reads an event's envelope (API specification, section 6). Unknown types pass. */
export function parseEvent(
  body: string,
): { ok: true; event: WebhookEvent } | { ok: false; problem: string } {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return { ok: false, problem: "The body is not valid JSON." };
  }
  const parsed = eventSchema.safeParse(json);
  if (parsed.success) return { ok: true, event: parsed.data };
  const issue = parsed.error.issues[0];
  const field = issue?.path.join(".") || "the body";
  return { ok: false, problem: `The event's ${field} is not valid: ${issue?.message ?? ""}` };
}

/** Returns the inbox row of an event. */
export function inboxEvent(
  profile: BusinessProfile,
  event: WebhookEvent,
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
