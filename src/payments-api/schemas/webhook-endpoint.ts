import { z } from "zod";
import { openEnum, undocumented, undocumentedList } from "./common.ts";

type WebhookEndpointStatus = "active" | "paused" | (string & {});

/** Webhook endpoint. Its record is not documented, so only the id is relied on. */
export const webhookEndpointSchema = z.object({
  id: z.string().min(1),
  url: undocumented(z.string()),
  events: undocumented(z.array(z.string())),
  description: undocumented(z.string()),
  status: undocumented(openEnum<WebhookEndpointStatus>()),
  /** In full only at creation and rotation (API specification, section 6). */
  secret: undocumented(z.string()),
  secretLast4: undocumented(z.string()),
  createdAt: undocumented(z.string()),
  updatedAt: undocumented(z.string()),
});

export type WebhookEndpoint = z.infer<typeof webhookEndpointSchema>;

export const webhookEndpointListSchema = undocumentedList(
  webhookEndpointSchema,
  "webhookEndpoints",
);
