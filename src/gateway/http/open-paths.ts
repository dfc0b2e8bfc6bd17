import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { NoticeMessageBody } from "../../api/notices.ts";
import { instant } from "../../api/times.ts";
import { HealthBody, ReadyBody, WebhookBody } from "../../api/system.ts";
import type { GatewayContext } from "./context.ts";
import { exampleOf } from "./examples/answer-example.ts";
import { EVENT, NOTICE } from "./examples/requests.ts";
import { refusalAnswers } from "./refusal-answers.ts";

/** Returns the API's description, whose addresses begin with the gateway's own for others. */
export function documentOf(app: OpenAPIHono, { publicUrl }: Pick<GatewayContext, "publicUrl">) {
  return app.getOpenAPI31Document({ ...DOCUMENT, servers: [{ url: publicUrl() }] });
}

const DOCUMENT = {
  openapi: "3.1.0",
  info: {
    title: "Payrun gateway",
    version: "1",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    description:
      "Plans, runs, decisions and actions. Amounts are integers in US cents; ids in paths are URL-encoded; errors are { error, message, details? }. New fields and new values may come with any version: ignore what you don't know.",
  },
};

/** The event as the specification shows it; the gateway accepts less strict forms. */
const Envelope = z.object({
  id: z.string(),
  type: z.string(),
  sequence: z.string(),
  createdAt: instant,
  businessId: z.string(),
  data: z.object({ object: z.string(), id: z.string() }),
});

const SignedHeaders = z.object({
  "service-signature": z
    .string()
    .describe(
      "`t=<unix seconds>,v1=<hex HMAC-SHA256 of <t>.<raw body>>`, keyed with the whole text of the endpoint's secret, `whsec_` included; t may be five minutes off",
    ),
});

/** The headers of Standard Webhooks. */
const NoticeHeaders = z.object({
  "webhook-id": z.string().describe("The same for each try to deliver a notice"),
  "webhook-timestamp": z.string().describe("Unix seconds of this try"),
  "webhook-signature": z
    .string()
    .describe(
      "`v1,<base64 HMAC-SHA256 of <id>.<timestamp>.<raw body>>`, keyed with the bytes of the channel's secret; one for each secret in force, separated by spaces",
    ),
});

/** Describes what is not an operation of the API proper, and what Payrun sends to others. */
export function describeOpenPaths({ openAPIRegistry: registry }: OpenAPIHono): void {
  registry.registerComponent("securitySchemes", "token", {
    type: "http",
    scheme: "bearer",
    description: "A token made by “payrun token create”",
  });
  describeSystem(registry);
  describeEvents(registry);
  describeNotices(registry);
}

type Registry = OpenAPIHono["openAPIRegistry"];

function json(description: string, schema: z.ZodType) {
  return { description, content: { "application/json": { schema, example: exampleOf(schema) } } };
}

function describeSystem(registry: Registry): void {
  registry.registerPath({
    method: "get",
    path: "/health",
    tags: ["system"],
    operationId: "getHealth",
    summary: "Whether the process answers",
    security: [],
    responses: { 200: json("It does", HealthBody) },
  });
  registry.registerPath({
    method: "get",
    path: "/ready",
    tags: ["system"],
    operationId: "getReadiness",
    summary:
      "Whether webhooks are taken, which needs only a store that can be written; and what else works",
    security: [],
    responses: {
      200: json("The store takes webhooks", ReadyBody),
      ...refusalAnswers([429]),
      503: json("The store takes no writes, and `store` says why", ReadyBody),
    },
  });
  registry.registerPath({
    method: "get",
    path: "/metrics",
    tags: ["system"],
    operationId: "getMetrics",
    summary: "Metrics for Prometheus, to a token that is for all businesses",
    security: [{ token: [] }],
    responses: {
      200: { description: "Text format", content: { "text/plain": { schema: z.string() } } },
      ...refusalAnswers([401, 403, 429]),
    },
  });
}

function describeEvents(registry: Registry): void {
  registry.registerPath({
    method: "post",
    path: "/webhooks/{business}",
    tags: ["webhooks"],
    operationId: "receiveEvent",
    summary:
      "The Payments Service's events, signed; kept once, then signaled to the workflows that subscribe",
    security: [],
    request: {
      params: z.object({ business: z.string() }),
      headers: SignedHeaders,
      body: {
        required: true,
        content: { "application/json": { schema: Envelope, example: EVENT } },
      },
    },
    responses: {
      200: json("Kept", WebhookBody),
      ...refusalAnswers([400, 401, 404, 413, 415, 429, 503], {
        400: "Malformed envelope",
        401: "Bad signature",
        404: "Unknown business",
        413: "Larger than 1 MB",
        415: "Not application/json",
        503: "Not kept, because the store takes no writes now: deliver it again",
      }),
    },
  });
}

function describeNotices(registry: Registry): void {
  registry.registerWebhook({
    method: "post",
    path: "notice",
    tags: ["notices"],
    operationId: "receiveNotice",
    summary: "A notice to people, sent to the webhook of a profile's channel (docs/notices.md)",
    description:
      "Each fact is one notice. It is tried for about a day, and may come twice under one `webhook-id`.",
    security: [],
    request: {
      headers: NoticeHeaders,
      body: {
        required: true,
        content: { "application/json": { schema: NoticeMessageBody, example: NOTICE } },
      },
    },
    responses: {
      "2XX": { description: "Stored: it is not sent again" },
      "4XX": { description: "Refused: it is tried again, except after a 410" },
    },
  });
}
