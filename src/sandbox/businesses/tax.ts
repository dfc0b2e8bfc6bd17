import type { SandboxContext } from "../context.ts";
import { invalid } from "../http/api-error.ts";
import type { BusinessRow } from "../resources/businesses.ts";
import { digitsOf, isSameNumber, keepNumber } from "./personal-number.ts";
import { requireTurn, tinStatusAt } from "./steps.ts";
import { changeVerification, profileOf, verificationRow } from "./tables.ts";

/** How long the IRS takes to check a tax id, on the bank clock. */
const tinCheckMs = 60_000;
/** The one tax id, as EIN or SSN, that the IRS never matches. */
const unmatchedTaxId = "111111111";

/**
 * Submits a business's tax id for the IRS's check. Sending the one on file again changes nothing,
 * unless the IRS did not match it. A different one makes the W-9's signature, which was given for
 * the old one, missing again.
 *
 * @throws {ApiError} 422 for a tax id that this kind of business doesn't have, or once verified.
 */
export function submitTaxId(
  ctx: SandboxContext,
  business: BusinessRow,
  type: "ein" | "ssn",
  written: string,
): void {
  const row = verificationRow(ctx.db, business.id);
  const nowMs = ctx.clock.bankNow();
  requireTurn(business, row, "tax", nowMs);
  const { entity_type: entityType } = profileOf(ctx.db, business.id);
  const wanted = entityType === "sole_proprietorship" ? "ssn" : "ein";
  if (entityType !== null && type !== wanted) {
    throw invalid(type, `A ${entityType} gives its ${wanted}, not its ${type}`);
  }
  const isOnFile = row.tax_id_type === type && isSameNumber(written, row.tax_id_hash);
  if (isOnFile && tinStatusAt(row, nowMs) !== "mismatched") return;
  const { last4, hash } = keepNumber(written);
  changeVerification(ctx.db, business.id, {
    tax_step: "submitted",
    tax_id_type: type,
    tax_id_mask: last4,
    tax_id_hash: hash,
    tax_submitted_at: nowMs,
    tin_result: digitsOf(written) === unmatchedTaxId ? "mismatched" : "matched",
    tin_answered_at: nowMs + tinCheckMs,
    ...(!isOnFile && { signature_step: "missing", signer_name: null, signed_at: null }),
  });
}

/**
 * Records the W-9's electronic signature. @throws {ApiError} before the tax id, or once verified.
 */
export function signTaxForm(
  ctx: SandboxContext,
  business: BusinessRow,
  { signerName, signedAt }: { signerName: string; signedAt: string },
): void {
  const row = verificationRow(ctx.db, business.id);
  requireTurn(business, row, "signature", ctx.clock.bankNow());
  changeVerification(ctx.db, business.id, {
    signature_step: "submitted",
    signer_name: signerName,
    signed_at: signedAt,
  });
}
