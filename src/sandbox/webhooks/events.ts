import type { DatabaseSync } from "node:sqlite";
import type { ServiceEvent } from "../context.ts";
import { afterCommit, allRows, execute, getRow, updateRow } from "../db.ts";
import { instantText, newId } from "../ids.ts";
import { drawWebhookFault } from "./faults.ts";
import { type EndpointRow, insertDelivery } from "./tables.ts";

/**
 * Every type that an endpoint can subscribe to by name; `invoice.*` types come and go with
 * invoices.
 */
export const eventTypes: readonly string[] = [
  "payable.created",
  "payable.approved",
  "payable.declined",
  "payable.cancelled",
  "payable.approval_reset",
  "payable.payment.scheduled",
  "payable.payment.partially_paid",
  "payable.paid",
  "payable.payment.failed",
  "payable.payment.reversed",
  "bank_account.created",
  "bank_account.verified",
  "bank_account.verification_failed",
  "bank_account.removed",
  "contact.created",
  "contact.updated",
  "contact.archived",
  "contact.unarchived",
];

/**
 * Above what a JSON number holds exactly, so that a receiver that compares them as numbers fails.
 */
const firstSequence = 2n ** 53n;

const listeners = new WeakMap<DatabaseSync, Set<() => void>>();

/** Calls `wake` whenever deliveries have been committed. @returns a function that stops that. */
export function onDeliveries(db: DatabaseSync, wake: () => void): () => void {
  const wakes = listeners.get(db) ?? new Set();
  listeners.set(db, wakes.add(wake));
  return () => wakes.delete(wake);
}

/** Wakes the deliverer once the transaction is committed, because there may be work. */
export function announceDeliveries(db: DatabaseSync): void {
  afterCommit(db, () => {
    for (const wake of listeners.get(db) ?? []) wake();
  });
}

/**
 * Records an event, and a delivery for each active endpoint of the business that subscribes to it
 * (API specification, section 6), in the caller's transaction.
 *
 * @param wireNowMs the instant at which it is emitted, on the wire clock.
 */
export function emitEvent(db: DatabaseSync, event: ServiceEvent, wireNowMs: number): void {
  const id = newId("evt");
  const seq = insertEvent(db, id, event);
  const body = JSON.stringify({
    id,
    type: event.type,
    sequence: String(firstSequence + BigInt(seq)),
    createdAt: instantText(wireNowMs),
    businessId: event.businessId,
    data: { object: event.object, id: event.id },
  });
  updateRow(db, "events", id, { body });
  const endpoints = allRows<EndpointRow>(
    db,
    "SELECT * FROM webhook_endpoints WHERE business_id = ? AND status = 'active' ORDER BY seq",
    event.businessId,
  );
  for (const endpoint of endpoints) {
    if (!subscribes(endpoint, event.type)) continue;
    insertDelivery(db, {
      id: newId("whd"),
      endpoint_id: endpoint.id,
      event_seq: seq,
      created_at: wireNowMs,
      ...drawWebhookFault(db, wireNowMs),
    });
  }
  announceDeliveries(db);
}

function insertEvent(db: DatabaseSync, id: string, event: ServiceEvent): number {
  execute(
    db,
    "INSERT INTO events (id, business_id, type, body) VALUES (?, ?, ?, '')",
    id,
    event.businessId,
    event.type,
  );
  return getRow<{ seq: number }>(db, "SELECT last_insert_rowid() AS seq")?.seq ?? 0;
}

function subscribes(endpoint: EndpointRow, type: string): boolean {
  const events = JSON.parse(endpoint.events) as string[];
  return events.includes("*") || events.includes(type);
}
