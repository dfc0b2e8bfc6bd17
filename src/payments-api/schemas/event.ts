import { z } from "zod";
import { lenient, nullable } from "./common.ts";

/**
 * Envelope of a webhook event (API specification, section 6). Unknown types and objects pass:
 * refusing them would make the service pause the endpoint.
 */
export const eventSchema = z.object({
  /** Stable across retries and redeliveries: dedupe on it. */
  id: z.string().min(1),
  type: z.string().min(1),
  /** Decimal digits, to be compared as a big integer; null for anything else. */
  sequence: lenient(z.string().regex(/^\d{1,40}$/)),
  createdAt: lenient(z.string()),
  businessId: nullable(z.string()),
  /** A reference only: read the resource for its state. */
  data: z.object({ object: nullable(z.string()), id: nullable(z.string()) }),
});

export type WebhookEvent = z.infer<typeof eventSchema>;
