import { z } from "zod";
import { updateRow } from "../db.ts";
import { defineOperation, type ServiceOperation } from "../http/operation.ts";
import { optional, pagingQuery } from "../http/validation.ts";
import { newId } from "../ids.ts";
import {
  checkEventTypes,
  checkUrl,
  deliveriesPage,
  deliveryJson,
  deliveryOf,
  endpointJson,
  endpointsOf,
  insertEndpoint,
  newSigningSecret,
  ownEndpoint,
} from "./endpoints.ts";
import { announceDeliveries } from "./events.ts";
import { buryDeliveries, type EndpointRow, insertDelivery } from "./tables.ts";
import { pageShape, instantShape } from "../http/shapes.ts";

/** A webhook endpoint; its secret is included only when it is created. */
const endpointShape = z
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

const newEndpointShape = endpointShape
  .extend({ secret: secretShape })
  .meta({ id: "NewWebhookEndpoint" });

const rotatedSecretShape = z
  .object({ id: z.string(), secret: secretShape, secretLast4: z.string() })
  .meta({ id: "RotatedWebhookSecret" });

/** Delivery record, section 6. */
const deliveryShape = z
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

const reading = ["webhooks:read", "webhooks:manage"];
const managing = ["webhooks:manage"];

const url = z.string().min(1).max(2_000);
const events = z.array(z.string()).min(1).max(100);
const description = z.string().max(500);

const createEndpoint = defineOperation({
  name: "createWebhookEndpoint",
  summary: "Subscribes an address to events; the answer shows its signing secret this once.",
  method: "POST",
  path: "/v1/webhook-endpoints",
  scopes: managing,
  idempotency: "refused",
  answer: { status: 201, body: newEndpointShape },
  body: z.object({ url, events: optional(events), description: optional(description) }),
  handler: ({ ctx, caller, body }) => {
    const { businessId } = caller;
    const row = insertEndpoint(ctx.db, { businessId, ...body }, ctx.clock.wireNow());
    return { status: 201, body: { ...endpointJson(row), secret: row.secret } };
  },
});

const listEndpoints = defineOperation({
  name: "listWebhookEndpoints",
  summary: "Lists the addresses that events are sent to.",
  method: "GET",
  path: "/v1/webhook-endpoints",
  scopes: reading,
  idempotency: "none",
  answer: { status: 200, body: pageShape(endpointShape) },
  handler: ({ ctx, caller }) => {
    const items = endpointsOf(ctx.db, caller.businessId).map(endpointJson);
    return { status: 200, body: { items, totalCount: items.length } };
  },
});

const getEndpoint = defineOperation({
  name: "getWebhookEndpoint",
  summary: "Shows one webhook endpoint.",
  method: "GET",
  path: "/v1/webhook-endpoints/{webhookEndpointId}",
  scopes: reading,
  idempotency: "none",
  answer: { status: 200, body: endpointShape },
  handler: ({ ctx, caller, params }) => ({
    status: 200,
    body: endpointJson(ownEndpoint(ctx.db, caller.businessId, params)),
  }),
});

const updateEndpoint = defineOperation({
  name: "updateWebhookEndpoint",
  summary: "Changes a webhook endpoint; status active resumes a paused one.",
  method: "PATCH",
  path: "/v1/webhook-endpoints/{webhookEndpointId}",
  scopes: managing,
  idempotency: "optional",
  answer: { status: 200, body: endpointShape },
  body: z.object({
    url: optional(url),
    events: optional(events),
    description: z.union([description, z.null()]).optional(),
    status: optional(z.enum(["active"])),
  }),
  handler: ({ ctx, caller, params, body }) => {
    const endpoint = ownEndpoint(ctx.db, caller.businessId, params);
    if (body.url !== undefined) checkUrl(body.url);
    if (body.events !== undefined) checkEventTypes(body.events);
    const changes: Partial<EndpointRow> = {
      ...(body.url === undefined ? {} : { url: body.url }),
      ...(body.events === undefined ? {} : { events: JSON.stringify(body.events) }),
      ...(body.description === undefined ? {} : { description: body.description }),
      ...(body.status === undefined
        ? {}
        : { status: body.status, failed_in_a_row: 0, failing_since: null }),
      updated_at: ctx.clock.wireNow(),
    };
    updateRow(ctx.db, "webhook_endpoints", endpoint.id, changes);
    announceDeliveries(ctx.db);
    return { status: 200, body: endpointJson({ ...endpoint, ...changes }) };
  },
});

const rotateSecret = defineOperation({
  name: "rotateWebhookSecret",
  summary: "Replaces the signing secret at once; the answer shows the new one this once.",
  method: "POST",
  path: "/v1/webhook-endpoints/{webhookEndpointId}/rotate-secret",
  scopes: managing,
  idempotency: "refused",
  answer: { status: 200, body: rotatedSecretShape },
  handler: ({ ctx, caller, params }) => {
    const endpoint = ownEndpoint(ctx.db, caller.businessId, params);
    const secret = newSigningSecret();
    const changes = { secret, updated_at: ctx.clock.wireNow() };
    updateRow(ctx.db, "webhook_endpoints", endpoint.id, changes);
    return { status: 200, body: { id: endpoint.id, secret, secretLast4: secret.slice(-4) } };
  },
});

const deleteEndpoint = defineOperation({
  name: "deleteWebhookEndpoint",
  summary: "Ends a webhook endpoint; its delivery history is kept.",
  method: "DELETE",
  path: "/v1/webhook-endpoints/{webhookEndpointId}",
  scopes: managing,
  idempotency: "optional",
  answer: { status: 204 },
  handler: ({ ctx, caller, params }) => {
    const endpoint = ownEndpoint(ctx.db, caller.businessId, params);
    const nowMs = ctx.clock.wireNow();
    updateRow(ctx.db, "webhook_endpoints", endpoint.id, { status: "deleted", updated_at: nowMs });
    buryDeliveries(ctx.db, endpoint.id, nowMs);
    return { status: 204 };
  },
});

const listDeliveries = defineOperation({
  name: "listWebhookDeliveries",
  summary: "Lists what was sent to an endpoint, newest first; also for one that was deleted.",
  method: "GET",
  path: "/v1/webhook-endpoints/{webhookEndpointId}/deliveries",
  scopes: reading,
  idempotency: "none",
  answer: { status: 200, body: pageShape(deliveryShape) },
  query: z.object(pagingQuery),
  handler: ({ ctx, caller, params, query }) => {
    const endpoint = ownEndpoint(ctx.db, caller.businessId, params, true);
    return { status: 200, body: deliveriesPage(ctx.db, endpoint.id, query) };
  },
});

const redeliver = defineOperation({
  name: "redeliverWebhook",
  summary: "Sends an event again as a new delivery with attempts of its own.",
  method: "POST",
  path: "/v1/webhook-endpoints/{webhookEndpointId}/deliveries/{deliveryId}/redeliver",
  scopes: managing,
  idempotency: "optional",
  answer: { status: 201, body: deliveryShape },
  handler: ({ ctx, caller, params }) => {
    const endpoint = ownEndpoint(ctx.db, caller.businessId, params);
    const original = deliveryOf(ctx.db, endpoint.id, params["deliveryId"] ?? "");
    const id = newId("whd");
    insertDelivery(ctx.db, {
      id,
      endpoint_id: endpoint.id,
      event_seq: original.event_seq,
      redelivery_of_id: original.id,
      created_at: ctx.clock.wireNow(),
    });
    announceDeliveries(ctx.db);
    return { status: 201, body: deliveryJson(deliveryOf(ctx.db, endpoint.id, id)) };
  },
});

/** Webhook endpoints and their deliveries (API specification, sections 4 and 6). */
export const webhookOperations: readonly ServiceOperation[] = [
  createEndpoint,
  listEndpoints,
  getEndpoint,
  updateEndpoint,
  rotateSecret,
  deleteEndpoint,
  listDeliveries,
  redeliver,
];
