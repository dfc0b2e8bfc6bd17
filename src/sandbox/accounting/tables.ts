import type { DatabaseSync } from "node:sqlite";
import { execute, getRow, insertRow, updateRow } from "../db.ts";

/**
 * The connections to the simulated accounting system, what has been synced from it, and its own
 * records (`accounting_records`), which the service accesses only in a sync. Instants are of the
 * bank clock.
 */
export const accountingDdl = `
CREATE TABLE IF NOT EXISTS accounting_integrations (
  id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL CHECK (status IN ('pending', 'connected', 'disconnected')),
  oauth_state TEXT,
  redirect_uri TEXT NOT NULL,
  connected_at INTEGER,
  disconnected_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS accounting_syncs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  integration_id TEXT NOT NULL,
  entity_types TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed')),
  results TEXT,
  error TEXT,
  started_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS accounting_syncs_newest ON accounting_syncs (integration_id, seq);
CREATE TABLE IF NOT EXISTS accounting_links (
  business_id TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  record_id TEXT NOT NULL,
  service_id TEXT,
  is_mapped INTEGER NOT NULL,
  synced TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (business_id, entity_type, record_id)
) STRICT;
CREATE TABLE IF NOT EXISTS accounting_records (
  business_id TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  id TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (business_id, entity_type, id)
) STRICT;
`;

/** What can be synced (API specification, section 2), in the order of a full sync. */
export const syncedEntities = ["vendors", "bankAccounts", "invoices"] as const;

export type SyncedEntity = (typeof syncedEntities)[number];

export interface IntegrationRow {
  id: string;
  business_id: string;
  status: "pending" | "connected" | "disconnected";
  /** The `state` of an OAuth flow that has not ended. */
  oauth_state: string | null;
  redirect_uri: string;
  connected_at: number | null;
  disconnected_at: number | null;
  created_at: number;
}

/** `entity_types` and `results` are JSON. */
export interface SyncRow {
  id: string;
  integration_id: string;
  entity_types: string;
  status: "running" | "succeeded" | "failed";
  results: string | null;
  error: string | null;
  started_at: number;
  finished_at: number | null;
}

/**
 * What a record of the accounting system is in the service; `synced` is its JSON at the last sync.
 */
export interface LinkRow {
  business_id: string;
  entity_type: SyncedEntity;
  record_id: string;
  /**
   * The id of the contact, payable or funding source; null for a bank account without a mapping.
   */
  service_id: string | null;
  /** 1 if a person has mapped it, so that no sync may choose otherwise. */
  is_mapped: number;
  synced: string;
  updated_at: number;
}

export function insertIntegration(db: DatabaseSync, row: IntegrationRow): void {
  insertRow(db, "accounting_integrations", { ...row });
}

export function changeIntegration(
  db: DatabaseSync,
  id: string,
  changes: Partial<Omit<IntegrationRow, "id" | "business_id">>,
): void {
  updateRow(db, "accounting_integrations", id, changes);
}

/** Returns a business's only integration, whatever its status. */
export function integrationOfBusiness(
  db: DatabaseSync,
  businessId: string,
): IntegrationRow | undefined {
  return getRow(db, "SELECT * FROM accounting_integrations WHERE business_id = ?", businessId);
}

export function integrationById(db: DatabaseSync, id: string): IntegrationRow | undefined {
  return getRow(db, "SELECT * FROM accounting_integrations WHERE id = ?", id);
}

export function insertSync(db: DatabaseSync, row: SyncRow): void {
  insertRow(db, "accounting_syncs", { ...row });
}

export function changeSync(
  db: DatabaseSync,
  id: string,
  changes: Partial<Omit<SyncRow, "id" | "integration_id">>,
): void {
  updateRow(db, "accounting_syncs", id, changes);
}

export function syncById(db: DatabaseSync, id: string): SyncRow | undefined {
  return getRow(db, "SELECT * FROM accounting_syncs WHERE id = ?", id);
}

/** Returns the most recent sync of an integration, running or not. */
export function latestSync(db: DatabaseSync, integrationId: string): SyncRow | undefined {
  return getRow(
    db,
    "SELECT * FROM accounting_syncs WHERE integration_id = ? ORDER BY seq DESC LIMIT 1",
    integrationId,
  );
}

export function linkOf(
  db: DatabaseSync,
  businessId: string,
  entityType: SyncedEntity,
  recordId: string,
): LinkRow | undefined {
  return getRow(
    db,
    "SELECT * FROM accounting_links WHERE business_id = ? AND entity_type = ? AND record_id = ?",
    businessId,
    entityType,
    recordId,
  );
}

/** Returns the link that a person has made to an object of the service. */
export function mappedLinkTo(
  db: DatabaseSync,
  businessId: string,
  entityType: SyncedEntity,
  serviceId: string,
): LinkRow | undefined {
  return getRow(
    db,
    `SELECT * FROM accounting_links
     WHERE business_id = ? AND entity_type = ? AND service_id = ? AND is_mapped = 1`,
    businessId,
    entityType,
    serviceId,
  );
}

/** Records what a record is in the service, and replaces what was recorded before. */
export function putLink(db: DatabaseSync, link: LinkRow): void {
  execute(
    db,
    `INSERT INTO accounting_links
       (business_id, entity_type, record_id, service_id, is_mapped, synced, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET service_id = excluded.service_id, is_mapped = excluded.is_mapped,
       synced = excluded.synced, updated_at = excluded.updated_at`,
    link.business_id,
    link.entity_type,
    link.record_id,
    link.service_id,
    link.is_mapped,
    link.synced,
    link.updated_at,
  );
}
