import { eventTypes } from "../webhooks/events.ts";
import type { OpenApiSchema } from "./json-schemas.ts";

/** The event that an endpoint receives (API specification, section 6). */
export const eventWebhook: OpenApiSchema = {
  post: {
    summary: "An event, as a thin reference: read the resource for its state.",
    description:
      "Signed with the endpoint's secret: `Service-Signature: t=<unix seconds>,v1=<hex HMAC-SHA256 of <t>.<raw body>>`; the key is the whole text of the secret, `whsec_` included.",
    tags: ["Webhooks"],
    parameters: [
      header(
        "Service-Signature",
        "`t=<unix seconds>,v1=<hex HMAC-SHA256>`, fresh on each attempt.",
      ),
      header("Service-Event-Id", "The same across retries and redeliveries."),
      header("Service-Webhook-Id", "Unique per delivery."),
    ],
    requestBody: {
      content: {
        "application/json": {
          schema: {
            type: "object",
            properties: {
              id: { type: "string" },
              type: {
                type: "string",
                description: `${eventTypes.join(", ")}, or one of invoice.*`,
              },
              sequence: { type: "string", description: "Compare as a big integer." },
              createdAt: { type: "string", format: "date-time" },
              businessId: { type: "string" },
              data: {
                type: "object",
                properties: {
                  object: { enum: ["payable", "bank_account", "contact", "invoice"] },
                  id: { type: "string" },
                },
                required: ["object", "id"],
              },
            },
            required: ["id", "type", "sequence", "createdAt", "businessId", "data"],
          },
        },
      },
    },
    responses: { "2XX": { description: "Received, if within ten seconds." } },
  },
};

function header(name: string, description: string): OpenApiSchema {
  return { name, in: "header", required: true, description, schema: { type: "string" } };
}
