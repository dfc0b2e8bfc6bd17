import type { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import type { SandboxContext } from "../context.ts";
import { invalid, objectNotFound } from "../http/api-error.ts";
import { businessById, type BusinessRow } from "../resources/businesses.ts";
import { documentJson } from "./documents.ts";
import { keepNumber } from "./personal-number.ts";
import {
  changeProfile,
  changeVerification,
  type EntityType,
  documentsOf,
  insertOfficer,
  officerRows,
  profileOf,
  type VerificationRow,
  verificationRow,
} from "./tables.ts";
import { officerJson, verificationJson } from "./views.ts";

/** What a reviewer may send with a decision, in `POST /sandbox/businesses/{id}`. */
export const reviewFields = {
  verification: z.enum(["pending", "document", "verified", "suspended"]).optional(),
  /** The reason, in words for the business's people. */
  reason: z.string().max(1_000).optional(),
  /** What they have to do, with `document` or `suspended`. */
  nextSteps: z.array(z.string().min(1).max(1_000)).max(20).optional(),
  /** What the IRS says about the tax id on file, at once. */
  tinCheck: z.enum(["matched", "mismatched"]).optional(),
};

interface Review {
  verification?: BusinessRow["verification"] | undefined;
  reason?: string | undefined;
  nextSteps?: string[] | undefined;
  tinCheck?: "matched" | "mismatched" | undefined;
}

/**
 * Records the reviewer's decision, and what the IRS says, besides the business's new status.
 *
 * @throws {ApiError} 422 if the IRS is to judge a tax id and none is on file.
 */
export function recordReview(ctx: SandboxContext, business: BusinessRow, review: Review): void {
  const { verification, reason, nextSteps, tinCheck } = review;
  const nowMs = ctx.clock.bankNow();
  if (tinCheck !== undefined) {
    if (verificationRow(ctx.db, business.id).tax_id_hash === null) {
      throw invalid("tinCheck", "The business has no tax id on file");
    }
    changeVerification(ctx.db, business.id, { tin_result: tinCheck, tin_answered_at: nowMs });
  }
  if (verification === undefined) return;
  changeVerification(ctx.db, business.id, {
    reason: verification === "verified" ? null : (reason ?? null),
    requests: JSON.stringify(verification === "verified" ? [] : (nextSteps ?? [])),
    decided_at: nowMs,
    ...(verification === "document" && { documents_step: "missing" }),
    ...(verification === "verified" && allSteps("accepted")),
  });
}

/** Returns what a reviewer sees: `GET /sandbox/businesses/{id}`, including the logo's bytes. */
export function reviewJson(ctx: SandboxContext, businessId: string): Record<string, unknown> {
  const business = businessById(ctx.db, businessId);
  if (business === undefined) throw objectNotFound("Business");
  const { alias, logo, logo_type: contentType } = profileOf(ctx.db, business.id);
  return {
    id: business.id,
    name: business.name,
    alias,
    verification: verificationJson(ctx.db, business, ctx.clock.bankNow()),
    officers: officerRows(ctx.db, business.id).map(officerJson),
    documents: documentsOf(ctx.db, business.id).map(documentJson),
    logo: logo === null ? null : { contentType, base64: Buffer.from(logo).toString("base64") },
  };
}

function allSteps(
  state: "submitted" | "accepted",
): Pick<
  VerificationRow,
  "tax_step" | "signature_step" | "officers_step" | "certification_step" | "documents_step"
> {
  return {
    tax_step: state,
    signature_step: state,
    officers_step: state,
    certification_step: state,
    documents_step: state,
  };
}

/**
 * Gives a fixture's business the verification that its status implies: a business that is past
 * `pending` has taken the steps that lead there.
 */
export function loadVerification(
  db: DatabaseSync,
  fixture: { id: string; verification: string; entityType: EntityType | undefined },
  nowMs: number,
): void {
  const { id: businessId, verification, entityType } = fixture;
  if (entityType !== undefined) changeProfile(db, businessId, { entity_type: entityType });
  if (verification === "pending") return;
  const isVerified = verification === "verified";
  const taxId = keepNumber("12-3456789");
  const ownerSsn = keepNumber("123-45-6789");
  const signedAt = new Date(nowMs).toISOString();
  changeVerification(db, businessId, {
    ...allSteps(isVerified ? "accepted" : "submitted"),
    ...(!isVerified && { documents_step: "missing" }),
    tax_id_type: entityType === "sole_proprietorship" ? "ssn" : "ein",
    tax_id_mask: taxId.last4,
    tax_id_hash: taxId.hash,
    tax_submitted_at: nowMs,
    tin_result: "matched",
    tin_answered_at: nowMs,
    signer_name: "Sam Sandbox",
    signed_at: signedAt,
    certifier_name: "Sam Sandbox",
    certified_at: signedAt,
    decided_at: nowMs,
  });
  insertOfficer(db, {
    id: `off_${businessId}`,
    business_id: businessId,
    first_name: "Sam",
    last_name: "Sandbox",
    title: "Owner",
    ssn_last4: ownerSsn.last4,
    ssn_hash: ownerSsn.hash,
    created_at: nowMs,
  });
}
