import type { SandboxContext } from "../context.ts";
import { objectNotFound } from "../http/api-error.ts";
import type { TokenHolder } from "../http/operation.ts";
import { businessById, type BusinessRow, callersBusiness } from "../resources/businesses.ts";

/**
 * Returns the business that a path names: the token's own, or another one of its organization.
 *
 * @throws {ApiError} 404 if there is none, or it belongs to another organization.
 */
export function ownBusiness(
  ctx: SandboxContext,
  caller: TokenHolder,
  params: Readonly<Record<string, string>>,
): BusinessRow {
  const own = callersBusiness(ctx.db, caller.businessId);
  const business = businessById(ctx.db, params["businessId"] ?? "");
  if (business?.organization_id !== own.organization_id) throw objectNotFound("Business");
  return business;
}
