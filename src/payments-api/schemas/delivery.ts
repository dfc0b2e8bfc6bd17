import { z } from "zod";
import { id, instant, lenient, openEnum, orUnreadable, pageOf, shownText } from "./common.ts";

type DeliveryStatus = "pending" | "delivering" | "succeeded" | "failed" | "dead" | (string & {});

/** An event is a thin reference: a longer one is none. */
const BODY_MOST = 1_000_000;

/** Webhook delivery record (API specification, section 6). */
export const deliverySchema = z.object({
  id,
  status: lenient(openEnum<DeliveryStatus>()),
  attemptCount: lenient(z.number()),
  maxAttempts: lenient(z.number()),
  nextAttemptAt: lenient(instant),
  lastAttemptAt: lenient(instant),
  succeededAt: lenient(instant),
  deadAt: lenient(instant),
  lastResponseCode: lenient(z.number()),
  lastResponseBody: shownText,
  lastError: shownText,
  /** The exact signed body: the event itself. */
  requestBody: lenient(z.string().max(BODY_MOST)),
  redeliveryOfId: shownText,
  createdAt: lenient(instant),
});

export type Delivery = z.infer<typeof deliverySchema>;

export const deliveryPageSchema = pageOf(orUnreadable(deliverySchema));
