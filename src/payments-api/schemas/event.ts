import { z } from "zod";
import { UNREADABLE, id, serviceInstant, lenient, shortText } from "./common.ts";

/**
 * Envelope of a webhook event (API specification, section 6). Unknown types and objects pass, and so
 * does what is not as documented: refusing it would make the service pause the endpoint, and an
 * event proves nothing in any case.
 */
export const eventSchema = z.object({
  /** Stable across retries and redeliveries: dedupe on it. Null if it can't be read. */
  id: lenient(shortText.min(1)),
  type: shortText.min(1).catch(UNREADABLE),
  /** Decimal digits, to be compared as a big integer; null for anything else. */
  sequence: lenient(z.string().regex(/^\d{1,40}$/)),
  createdAt: lenient(serviceInstant),
  businessId: lenient(shortText),
  /** A reference only: read the resource for its state. */
  data: z.object({ object: lenient(shortText), id: lenient(id) }).catch({ object: null, id: null }),
});

export type WebhookEvent = z.infer<typeof eventSchema>;
