import { z } from "zod";
import {
  id,
  serviceInstant,
  lenient,
  openEnum,
  orUnreadable,
  pageSchema,
  shownText,
} from "./common.ts";

type DeliveryStatus = "pending" | "delivering" | "succeeded" | "failed" | "dead" | (string & {});

/** An event is a thin reference: a longer one is none. */
const BODY_MOST = 1_000_000;

/** Webhook delivery record (API specification, section 6). */
export const deliverySchema = z.object({
  id,
  status: lenient(openEnum<DeliveryStatus>()),
  attemptCount: lenient(z.number()),
  maxAttempts: lenient(z.number()),
  nextAttemptAt: lenient(serviceInstant),
  lastAttemptAt: lenient(serviceInstant),
  succeededAt: lenient(serviceInstant),
  deadAt: lenient(serviceInstant),
  lastResponseCode: lenient(z.number()),
  lastResponseBody: shownText,
  lastError: shownText,
  /** The exact signed body: the event itself. */
  requestBody: lenient(z.string().max(BODY_MOST)),
  redeliveryOfId: shownText,
  createdAt: lenient(serviceInstant),
});

export type Delivery = z.infer<typeof deliverySchema>;

export const deliveryPageSchema = pageSchema(orUnreadable(deliverySchema));
