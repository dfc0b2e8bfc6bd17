import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { allRows, getRow, insertRow } from "../db.ts";
import { invalid, objectNotFound } from "../http/api-error.ts";
import { instantText, isoInstantOrNull, newId } from "../ids.ts";
import { eventTypes } from "./events.ts";
import { maxAttempts } from "./outcome.ts";
import { endpointById, type EndpointRow, type SentDelivery } from "./tables.ts";

const loopback = new Set(["127.0.0.1", "localhost"]);
const secretBytes = 32;

/** Returns a new signing secret: `whsec_` and 32 random bytes. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString("base64url")}`;
}

/**
 * Adds an endpoint.
 *
 * @throws {ApiError} 422 for an address or an event type that is not allowed.
 */
export function insertEndpoint(
  db: DatabaseSync,
  endpoint: {
    businessId: string;
    url: string;
    events?: readonly string[] | undefined;
    description?: string | null | undefined;
    secret?: string | undefined;
  },
  wireNowMs: number,
): EndpointRow {
  const events = endpoint.events ?? ["*"];
  checkUrl(endpoint.url);
  checkEventTypes(events);
  const row: EndpointRow = {
    id: newId("whe"),
    business_id: endpoint.businessId,
    url: endpoint.url,
    events: JSON.stringify(events),
    description: endpoint.description ?? null,
    status: "active",
    secret: endpoint.secret ?? newSigningSecret(),
    failed_in_a_row: 0,
    failing_since: null,
    created_at: wireNowMs,
    updated_at: wireNowMs,
  };
  insertRow(db, "webhook_endpoints", { ...row });
  return row;
}

/**
 * Returns the business's endpoint; with `history` also one that was deleted.
 *
 * @throws {ApiError} 404.
 */
export function ownEndpoint(
  db: DatabaseSync,
  businessId: string,
  params: Readonly<Record<string, string>>,
  history = false,
): EndpointRow {
  const row = endpointById(db, params["webhookEndpointId"] ?? "");
  const isVisible = row?.business_id === businessId && (history || row.status !== "deleted");
  if (row === undefined || !isVisible) throw objectNotFound("Webhook endpoint");
  return row;
}

/** Returns the business's endpoints, oldest first, without those that were deleted. */
export function endpointsOf(db: DatabaseSync, businessId: string): EndpointRow[] {
  return allRows(
    db,
    "SELECT * FROM webhook_endpoints WHERE business_id = ? AND status <> 'deleted' ORDER BY seq",
    businessId,
  );
}

/** Returns the endpoint's record without its secret, of which only the end is ever shown again. */
export function endpointJson(row: EndpointRow): Record<string, unknown> {
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events),
    description: row.description,
    status: row.status,
    secretLast4: row.secret.slice(-4),
    createdAt: instantText(row.created_at),
    updatedAt: instantText(row.updated_at),
  };
}

/** @throws {ApiError} 422 unless it is an https address, or http on this machine. */
export function checkUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) throw invalid("url", `url: "${url}" is not an absolute URL`);
  if (parsed.username !== "" || parsed.password !== "") {
    throw invalid("url", "url: must not contain a user name or password");
  }
  const isHttp = parsed.protocol === "http:" && loopback.has(parsed.hostname);
  if (parsed.protocol !== "https:" && !isHttp) {
    throw invalid("url", "url: must be https; http only for 127.0.0.1 and localhost");
  }
}

/** @throws {ApiError} 422 for a type that doesn't exist. */
export function checkEventTypes(events: readonly string[]): void {
  for (const type of events) {
    const isKnown = type === "*" || eventTypes.includes(type) || /^invoice\.[a-z_.]+$/.test(type);
    if (!isKnown) {
      throw invalid("events", `events: "${type}" is not an event type; use "*" for all`);
    }
  }
}

const deliveryWithEvent = `SELECT deliveries.*, events.id AS event_id, events.body AS body
  FROM deliveries JOIN events ON events.seq = deliveries.event_seq`;

/** Returns one page of an endpoint's deliveries, newest first. */
export function deliveriesPage(
  db: DatabaseSync,
  endpointId: string,
  paging: { page: number; pageSize: number },
): { items: Record<string, unknown>[]; totalCount: number } {
  const rows = allRows<SentDelivery>(
    db,
    `${deliveryWithEvent} WHERE endpoint_id = ? ORDER BY deliveries.seq DESC LIMIT ? OFFSET ?`,
    endpointId,
    paging.pageSize,
    (paging.page - 1) * paging.pageSize,
  );
  const count = getRow<{ n: number }>(
    db,
    "SELECT count(*) AS n FROM deliveries WHERE endpoint_id = ?",
    endpointId,
  );
  return { items: rows.map(deliveryJson), totalCount: count?.n ?? 0 };
}

/** @throws {ApiError} 404 for a delivery that isn't the endpoint's. */
export function deliveryOf(db: DatabaseSync, endpointId: string, id: string): SentDelivery {
  const row = getRow<SentDelivery>(
    db,
    `${deliveryWithEvent} WHERE deliveries.id = ? AND endpoint_id = ?`,
    id,
    endpointId,
  );
  if (row === undefined) throw objectNotFound("Delivery");
  return row;
}

/** Returns the delivery in the API's shape (Delivery record, section 6). */
export function deliveryJson(row: SentDelivery): Record<string, unknown> {
  return {
    id: row.id,
    status: row.status,
    attemptCount: row.attempt_count,
    maxAttempts,
    nextAttemptAt: isoInstantOrNull(row.next_attempt_at),
    lastAttemptAt: isoInstantOrNull(row.last_attempt_at),
    succeededAt: isoInstantOrNull(row.succeeded_at),
    deadAt: isoInstantOrNull(row.dead_at),
    lastResponseCode: row.last_response_code,
    lastResponseBody: row.last_response_body,
    lastError: row.last_error,
    requestBody: row.body,
    redeliveryOfId: row.redelivery_of_id,
    createdAt: instantText(row.created_at),
  };
}
