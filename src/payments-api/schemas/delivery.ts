import { z } from "zod";
import { lenient, openEnum, pageOf } from "./common.ts";

type DeliveryStatus = "pending" | "delivering" | "succeeded" | "failed" | "dead" | (string & {});

/** Webhook delivery record (API specification, section 6). */
export const deliverySchema = z.object({
  id: z.string().min(1),
  status: lenient(openEnum<DeliveryStatus>()),
  attemptCount: lenient(z.number()),
  maxAttempts: lenient(z.number()),
  nextAttemptAt: lenient(z.string()),
  lastAttemptAt: lenient(z.string()),
  succeededAt: lenient(z.string()),
  deadAt: lenient(z.string()),
  lastResponseCode: lenient(z.number()),
  lastResponseBody: lenient(z.string()),
  lastError: lenient(z.string()),
  /** The exact signed body: the event itself. */
  requestBody: lenient(z.string()),
  redeliveryOfId: lenient(z.string()),
  createdAt: lenient(z.string()),
});

export type Delivery = z.infer<typeof deliverySchema>;

export const deliveryPageSchema = pageOf(deliverySchema);
