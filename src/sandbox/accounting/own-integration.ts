import { ownBusiness } from "../businesses/own-business.ts";
import type { SandboxContext } from "../context.ts";
import { objectNotFound } from "../http/api-error.ts";
import type { TokenHolder } from "../http/operation.ts";
import { integrationById, type IntegrationRow } from "./tables.ts";

/** The path of the accounting integration's operations. */
export const accountingPath = "/api/businesses/{businessId}/integrations/accounting";

/**
 * Returns the integration that a path names.
 *
 * @throws {ApiError} 404 if the business has no such integration.
 */
export function ownIntegration(
  ctx: SandboxContext,
  caller: TokenHolder,
  params: Readonly<Record<string, string>>,
): IntegrationRow {
  const business = ownBusiness(ctx, caller, params);
  const integration = integrationById(ctx.db, params["accountingIntegrationId"] ?? "");
  if (integration?.business_id !== business.id) throw objectNotFound("Accounting integration");
  return integration;
}
