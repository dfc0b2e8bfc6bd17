import { ownBusiness } from "../businesses/own-business.ts";
import type { SandboxContext } from "../context.ts";
import { notFound } from "../http/api-error.ts";
import type { Caller } from "../http/operation.ts";
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
  caller: Caller,
  params: Readonly<Record<string, string>>,
): IntegrationRow {
  const business = ownBusiness(ctx, caller, params);
  const integration = integrationById(ctx.db, params["accountingIntegrationId"] ?? "");
  if (integration?.business_id !== business.id) throw notFound("Accounting integration");
  return integration;
}
