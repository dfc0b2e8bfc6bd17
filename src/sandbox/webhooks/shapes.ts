import { z } from "zod";
import { instantShape } from "../http/shapes.ts";

/** Webhook endpoint; its secret is in it only when it was made. */
export const endpointShape = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.string()).min(1),
    description: z.string().nullable(),
    status: z.enum(["active", "paused"]),
    secretLast4: z.string(),
    createdAt: instantShape,
    updatedAt: instantShape,
  })
  .meta({ id: "WebhookEndpoint" });

const secretShape = z.string().startsWith("whsec_").meta({ description: "Shown this once." });

export const newEndpointShape = endpointShape
  .extend({ secret: secretShape })
  .meta({ id: "NewWebhookEndpoint" });

export const rotatedSecretShape = z
  .object({ id: z.string(), secret: secretShape, secretLast4: z.string() })
  .meta({ id: "RotatedWebhookSecret" });

/** Delivery record, section 6. */
export const deliveryShape = z
  .object({
    id: z.string(),
    status: z.enum(["pending", "delivering", "succeeded", "failed", "dead"]),
    attemptCount: z.int().min(0),
    maxAttempts: z.int().min(1),
    nextAttemptAt: instantShape.nullable(),
    lastAttemptAt: instantShape.nullable(),
    succeededAt: instantShape.nullable(),
    deadAt: instantShape.nullable(),
    lastResponseCode: z.int().nullable(),
    lastResponseBody: z.string().nullable(),
    lastError: z.string().nullable(),
    requestBody: z.string().meta({ description: "The exact signed body." }),
    redeliveryOfId: z.string().nullable(),
    createdAt: instantShape,
  })
  .meta({ id: "WebhookDelivery" });
