import { z } from "zod";
import { id, openEnum, orUnreadable, longText, undocumented, undocumentedList } from "./common.ts";

type WebhookEndpointStatus = "active" | "paused" | (string & {});

/** Webhook endpoint. Its record is not documented, so only the id is relied on. */
export const webhookEndpointSchema = z.object({
  id,
  url: undocumented(longText),
  events: undocumented(z.array(longText)),
  description: undocumented(longText),
  status: undocumented(openEnum<WebhookEndpointStatus>()),
  /** In full only at creation and rotation (API specification, section 6). */
  secret: undocumented(longText),
  secretLast4: undocumented(longText),
  createdAt: undocumented(longText),
  updatedAt: undocumented(longText),
});

export type WebhookEndpoint = z.infer<typeof webhookEndpointSchema>;

export const webhookEndpointListSchema = undocumentedList(
  orUnreadable(webhookEndpointSchema),
  "webhookEndpoints",
);
