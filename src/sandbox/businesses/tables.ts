import type { DatabaseSync } from "node:sqlite";
import { allRows, execute, getRow, insertRow } from "../db.ts";

/**
 * What a business states about itself and its people. No tax id, social security number or birth
 * date is stored, only the last four digits and a salted hash that recognizes the number: data that
 * no answer shows need not be in a file either.
 */
export const businessesDdl = `
CREATE TABLE IF NOT EXISTS business_profiles (
  business_id TEXT PRIMARY KEY,
  entity_type TEXT,
  alias TEXT,
  logo BLOB,
  logo_type TEXT,
  logo_sha256 TEXT,
  logo_at INTEGER,
  updated_at INTEGER
) STRICT;

CREATE TABLE IF NOT EXISTS verifications (
  business_id TEXT PRIMARY KEY,
  tax_step TEXT NOT NULL,
  signature_step TEXT NOT NULL,
  officers_step TEXT NOT NULL,
  certification_step TEXT NOT NULL,
  documents_step TEXT NOT NULL,
  tax_id_type TEXT,
  tax_id_mask TEXT,
  tax_id_hash TEXT,
  tax_submitted_at INTEGER,
  tin_result TEXT,
  tin_answered_at INTEGER,
  signer_name TEXT,
  signed_at TEXT,
  certifier_name TEXT,
  certified_at TEXT,
  reason TEXT,
  requests TEXT NOT NULL,
  decided_at INTEGER
) STRICT;

CREATE TABLE IF NOT EXISTS officers (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  business_id TEXT NOT NULL,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  title TEXT NOT NULL,
  ssn_last4 TEXT NOT NULL,
  ssn_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS officers_business ON officers (business_id, seq);

CREATE TABLE IF NOT EXISTS verification_documents (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  business_id TEXT NOT NULL,
  document_type TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  uploaded_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS verification_documents_business
  ON verification_documents (business_id, seq);
`;

/** The kinds of business that differ in their tax ids (specification, section 2). */
export const entityTypes = ["llc", "corporation", "partnership", "sole_proprietorship"] as const;
export type EntityType = (typeof entityTypes)[number];

export interface ProfileRow {
  business_id: string;
  /** Null if it is not known; both kinds of tax id are accepted then. */
  entity_type: EntityType | null;
  alias: string | null;
  logo: Uint8Array | null;
  logo_type: string | null;
  logo_sha256: string | null;
  logo_at: number | null;
  updated_at: number | null;
}

export type StepProgress = "missing" | "submitted" | "accepted";

export interface VerificationRow {
  business_id: string;
  tax_step: StepProgress;
  signature_step: StepProgress;
  officers_step: StepProgress;
  certification_step: StepProgress;
  documents_step: StepProgress;
  tax_id_type: "ein" | "ssn" | null;
  tax_id_mask: string | null;
  tax_id_hash: string | null;
  tax_submitted_at: number | null;
  /** What the IRS says, from `tin_answered_at` on. */
  tin_result: "matched" | "mismatched" | null;
  tin_answered_at: number | null;
  signer_name: string | null;
  signed_at: string | null;
  certifier_name: string | null;
  certified_at: string | null;
  /** Why the reviewer requested documents or suspended the business. */
  reason: string | null;
  /** JSON of what the reviewer wants done, in the reviewer's words. */
  requests: string;
  decided_at: number | null;
}

export interface OfficerRow {
  id: string;
  business_id: string;
  first_name: string;
  last_name: string;
  title: string;
  ssn_last4: string;
  ssn_hash: string;
  created_at: number;
}

export interface DocumentRow {
  id: string;
  business_id: string;
  document_type: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  uploaded_at: number;
}

export function profileOf(db: DatabaseSync, businessId: string): ProfileRow {
  const none: ProfileRow = {
    business_id: businessId,
    entity_type: null,
    alias: null,
    logo: null,
    logo_type: null,
    logo_sha256: null,
    logo_at: null,
    updated_at: null,
  };
  const sql = "SELECT * FROM business_profiles WHERE business_id = ?";
  return getRow<ProfileRow>(db, sql, businessId) ?? none;
}

export function changeProfile(
  db: DatabaseSync,
  businessId: string,
  changes: Partial<ProfileRow>,
): void {
  const row = { ...profileOf(db, businessId), ...changes };
  execute(db, "DELETE FROM business_profiles WHERE business_id = ?", businessId);
  insertRow(db, "business_profiles", { ...row });
}

export function verificationRow(db: DatabaseSync, businessId: string): VerificationRow {
  const nothingDone: VerificationRow = {
    business_id: businessId,
    tax_step: "missing",
    signature_step: "missing",
    officers_step: "missing",
    certification_step: "missing",
    documents_step: "missing",
    tax_id_type: null,
    tax_id_mask: null,
    tax_id_hash: null,
    tax_submitted_at: null,
    tin_result: null,
    tin_answered_at: null,
    signer_name: null,
    signed_at: null,
    certifier_name: null,
    certified_at: null,
    reason: null,
    requests: "[]",
    decided_at: null,
  };
  const sql = "SELECT * FROM verifications WHERE business_id = ?";
  return getRow<VerificationRow>(db, sql, businessId) ?? nothingDone;
}

export function changeVerification(
  db: DatabaseSync,
  businessId: string,
  changes: Partial<VerificationRow>,
): void {
  const row = { ...verificationRow(db, businessId), ...changes };
  execute(db, "DELETE FROM verifications WHERE business_id = ?", businessId);
  insertRow(db, "verifications", { ...row });
}

export function officerRows(db: DatabaseSync, businessId: string): OfficerRow[] {
  return allRows(db, "SELECT * FROM officers WHERE business_id = ? ORDER BY seq", businessId);
}

export function insertOfficer(db: DatabaseSync, row: OfficerRow): void {
  insertRow(db, "officers", { ...row });
}

export function insertDocument(db: DatabaseSync, row: DocumentRow): void {
  insertRow(db, "verification_documents", { ...row });
}

export function documentsOf(db: DatabaseSync, businessId: string): DocumentRow[] {
  const sql = "SELECT * FROM verification_documents WHERE business_id = ? ORDER BY seq";
  return allRows(db, sql, businessId);
}
