import type { DatabaseSync } from "node:sqlite";
import { execute, getRow, insertRow } from "../db.ts";

/**
 * Events, endpoints and deliveries; instants are milliseconds of the wire clock, except
 * `held_until_real`, which only a fault sets.
 */
export const webhooksDdl = `
CREATE TABLE IF NOT EXISTS events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  business_id TEXT NOT NULL,
  type TEXT NOT NULL,
  body TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS webhook_endpoints (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  business_id TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  description TEXT,
  status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'deleted')),
  secret TEXT NOT NULL,
  failed_in_a_row INTEGER NOT NULL,
  failing_since INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS webhook_endpoints_business ON webhook_endpoints (business_id, seq);

CREATE TABLE IF NOT EXISTS deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  endpoint_id TEXT NOT NULL,
  event_seq INTEGER NOT NULL,
  status TEXT NOT NULL
    CHECK (status IN ('pending', 'delivering', 'succeeded', 'failed', 'dead')),
  attempt_count INTEGER NOT NULL,
  next_attempt_at INTEGER,
  last_attempt_at INTEGER,
  succeeded_at INTEGER,
  dead_at INTEGER,
  last_response_code INTEGER,
  last_response_body TEXT,
  last_error TEXT,
  redelivery_of_id TEXT,
  created_at INTEGER NOT NULL,
  copies INTEGER NOT NULL,
  held_until_real INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS deliveries_endpoint ON deliveries (endpoint_id, seq);
CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (endpoint_id, next_attempt_at, seq)
  WHERE status IN ('pending', 'failed');
CREATE INDEX IF NOT EXISTS deliveries_held ON deliveries (held_until_real)
  WHERE status IN ('pending', 'failed') AND held_until_real > 0;
CREATE INDEX IF NOT EXISTS deliveries_under_way ON deliveries (endpoint_id)
  WHERE status = 'delivering';

CREATE TABLE IF NOT EXISTS webhook_faults (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  faults TEXT NOT NULL,
  draws INTEGER NOT NULL
);
`;

export type DeliveryStatus = "pending" | "delivering" | "succeeded" | "failed" | "dead";

export interface EndpointRow {
  id: string;
  business_id: string;
  url: string;
  /** JSON array of event types, or of the wildcard. */
  events: string;
  description: string | null;
  status: "active" | "paused" | "deleted";
  secret: string;
  failed_in_a_row: number;
  failing_since: number | null;
  created_at: number;
  updated_at: number;
}

export interface DeliveryRow {
  id: string;
  endpoint_id: string;
  event_seq: number;
  status: DeliveryStatus;
  attempt_count: number;
  next_attempt_at: number | null;
  last_attempt_at: number | null;
  succeeded_at: number | null;
  dead_at: number | null;
  last_response_code: number | null;
  last_response_body: string | null;
  last_error: string | null;
  redelivery_of_id: string | null;
  created_at: number;
  /** The number of times that an attempt is sent: 2 if a fault duplicates it. */
  copies: number;
  /** The real instant before which a fault keeps it back; 0 for none. */
  held_until_real: number;
}

/** A delivery with the body of its event. */
export interface SentDelivery extends DeliveryRow {
  event_id: string;
  body: string;
}

export function endpointById(db: DatabaseSync, id: string): EndpointRow | undefined {
  return getRow(db, "SELECT * FROM webhook_endpoints WHERE id = ?", id);
}

export function insertDelivery(
  db: DatabaseSync,
  row: Pick<DeliveryRow, "id" | "endpoint_id" | "event_seq" | "created_at"> & Partial<DeliveryRow>,
): void {
  insertRow(db, "deliveries", {
    status: "pending",
    attempt_count: 0,
    next_attempt_at: row.created_at,
    copies: 1,
    held_until_real: 0,
    ...row,
  });
}

/** Ends the deliveries that a deleted endpoint was still to receive. */
export function buryDeliveries(db: DatabaseSync, endpointId: string, atMs: number): void {
  execute(
    db,
    `UPDATE deliveries SET status = 'dead', next_attempt_at = NULL, dead_at = ?,
       last_error = 'the endpoint was deleted'
     WHERE endpoint_id = ? AND status IN ('pending', 'failed')`,
    atMs,
    endpointId,
  );
}
