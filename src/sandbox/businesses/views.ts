import type { DatabaseSync } from "node:sqlite";
import { instantText, isoInstantOrNull } from "../ids.ts";
import { type BusinessRow, isReadyToPay } from "../resources/businesses.ts";
import { documentTypes } from "./documents.ts";
import { nextStepsAt, stepsAt, tinStatusAt } from "./steps.ts";
import { type OfficerRow, profileOf, type VerificationRow, verificationRow } from "./tables.ts";

/** Returns a business as the list shows it. */
export function businessJson(db: DatabaseSync, business: BusinessRow): Record<string, unknown> {
  const profile = profileOf(db, business.id);
  const { logo, logo_type: contentType, logo_sha256: sha256, logo_at: logoAt } = profile;
  return {
    id: business.id,
    name: business.name,
    alias: profile.alias,
    entityType: profile.entity_type,
    verificationStatus: business.verification,
    logo:
      logo === null || logoAt === null
        ? null
        : { contentType, sizeBytes: logo.length, sha256, uploadedAt: instantText(logoAt) },
    createdAt: instantText(business.created_at),
    updatedAt: isoInstantOrNull(profile.updated_at),
  };
}

/** Returns a business in full. */
export function businessDetailJson(
  db: DatabaseSync,
  business: BusinessRow,
): Record<string, unknown> {
  return {
    ...businessJson(db, business),
    organizationId: business.organization_id,
    canPay: isReadyToPay(business) && business.payments_locked === 0,
    setup: business.setup_complete === 1 ? "complete" : "incomplete",
    paymentsLocked: business.payments_locked === 1,
    features: {
      balance: business.balance_feature === 1,
      acceleratedClearing: business.accelerated_feature === 1,
    },
    balanceStatus: business.balance_status,
    dashboardUrl: `https://app.payments.example/businesses/${business.id}`,
  };
}

function tinCheckJson(row: VerificationRow, nowMs: number): Record<string, unknown> {
  const status = tinStatusAt(row, nowMs);
  const hasAnswer = status === "matched" || status === "mismatched";
  return { status, checkedAt: hasAnswer ? isoInstantOrNull(row.tin_answered_at) : null };
}

/** Returns the tax info on file, with only the last four digits of the tax id. */
export function taxInfoJson(
  db: DatabaseSync,
  business: BusinessRow,
  nowMs: number,
): Record<string, unknown> {
  const row = verificationRow(db, business.id);
  return {
    legalName: business.name,
    taxIdType: row.tax_id_type,
    taxIdMask: row.tax_id_mask,
    submittedAt: isoInstantOrNull(row.tax_submitted_at),
    tinCheck: tinCheckJson(row, nowMs),
    signature:
      row.signer_name === null || row.signed_at === null
        ? null
        : { signerName: row.signer_name, signedAt: row.signed_at },
  };
}

/** Returns how far the verification is, and what is to be done next. */
export function verificationJson(
  db: DatabaseSync,
  business: BusinessRow,
  nowMs: number,
): Record<string, unknown> {
  const row = verificationRow(db, business.id);
  return {
    businessId: business.id,
    status: business.verification,
    reason: row.reason,
    taxIdType: row.tax_id_type,
    taxIdMask: row.tax_id_mask,
    tinCheck: tinCheckJson(row, nowMs),
    steps: stepsAt(row, nowMs),
    requestedDocuments: business.verification === "document" ? [...documentTypes] : [],
    nextSteps: nextStepsAt(business, row, nowMs),
    decidedAt: isoInstantOrNull(row.decided_at),
  };
}

export function officerJson(row: OfficerRow): Record<string, unknown> {
  return {
    id: row.id,
    firstName: row.first_name,
    lastName: row.last_name,
    title: row.title,
    ssnLast4: row.ssn_last4,
  };
}
