import { z } from "zod";
import { id, openEnum, orUnreadable, text, undocumented, undocumentedList } from "./common.ts";

type WebhookEndpointStatus = "active" | "paused" | (string & {});

/** Webhook endpoint. Its record is not documented, so only the id is relied on. */
export const webhookEndpointSchema = z.object({
  id,
  url: undocumented(text),
  events: undocumented(z.array(text)),
  description: undocumented(text),
  status: undocumented(openEnum<WebhookEndpointStatus>()),
  /** In full only at creation and rotation (API specification, section 6). */
  secret: undocumented(text),
  secretLast4: undocumented(text),
  createdAt: undocumented(text),
  updatedAt: undocumented(text),
});

export type WebhookEndpoint = z.infer<typeof webhookEndpointSchema>;

export const webhookEndpointListSchema = undocumentedList(
  orUnreadable(webhookEndpointSchema),
  "webhookEndpoints",
);
