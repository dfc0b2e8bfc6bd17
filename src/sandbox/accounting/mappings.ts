import type { SandboxContext } from "../context.ts";
import { ApiError, objectNotFound } from "../http/api-error.ts";
import { instantText } from "../ids.ts";
import { fundingSourcesJson } from "../payments/funding.ts";
import { callersBusiness } from "../resources/businesses.ts";
import { contactOf } from "../resources/contacts.ts";
import { bookRecord } from "./books.ts";
import { requireConnected } from "./sync.ts";
import { type IntegrationRow, linkOf, type LinkRow, mappedLinkTo, putLink } from "./tables.ts";

/**
 * Sets which of the business's contacts a vendor of the books is, instead of the sync's choice.
 *
 * @throws {ApiError} 404 for either side; 409 `accounting_not_connected` or `mapping_exists`.
 */
export function mapVendor(
  ctx: SandboxContext,
  integration: IntegrationRow,
  connectionId: string,
  vendorId: string,
): Record<string, unknown> {
  requireConnected(integration);
  const { business_id: businessId } = integration;
  if (contactOf(ctx.db, businessId, connectionId) === undefined) throw objectNotFound("Connection");
  const vendor = bookRecord(ctx.db, businessId, "vendors", vendorId);
  if (vendor === undefined) throw objectNotFound("Accounting vendor");
  const mapped = map(ctx, integration, {
    entity_type: "vendors",
    record_id: vendorId,
    service_id: connectionId,
    synced: JSON.stringify(vendor),
  });
  return {
    accountingIntegrationId: integration.id,
    connectionId,
    accountingVendorId: vendorId,
    accountingVendorName: vendor.displayName,
    mappedAt: instantText(mapped.updated_at),
  };
}

/**
 * Sets which account of the books a funding source is.
 *
 * @throws {ApiError} like {@link mapVendor}.
 */
export function mapBankAccount(
  ctx: SandboxContext,
  integration: IntegrationRow,
  fundingSourceId: string,
  accountId: string,
): Record<string, unknown> {
  requireConnected(integration);
  const { business_id: businessId } = integration;
  const sources = fundingSourcesJson(ctx.db, callersBusiness(ctx.db, businessId), false);
  if (!sources.some((source) => source["id"] === fundingSourceId)) {
    throw objectNotFound("Funding source");
  }
  const account = bookRecord(ctx.db, businessId, "bankAccounts", accountId);
  if (account === undefined) throw objectNotFound("Accounting bank account");
  const mapped = map(ctx, integration, {
    entity_type: "bankAccounts",
    record_id: accountId,
    service_id: fundingSourceId,
    synced: JSON.stringify(account),
  });
  return {
    accountingIntegrationId: integration.id,
    fundingSourceId,
    accountingBankAccountId: accountId,
    accountingBankAccountName: account.name,
    mappedAt: instantText(mapped.updated_at),
  };
}

function map(
  ctx: SandboxContext,
  integration: IntegrationRow,
  wanted: Pick<LinkRow, "entity_type" | "record_id" | "synced"> & { service_id: string },
): LinkRow {
  const { business_id: businessId } = integration;
  const { entity_type: type, record_id: recordId, service_id: serviceId } = wanted;
  const link = linkOf(ctx.db, businessId, type, recordId);
  const ofRecord = link?.is_mapped === 1 ? link : undefined;
  const ofService = mappedLinkTo(ctx.db, businessId, type, serviceId);
  if (ofRecord !== undefined && ofRecord.service_id === serviceId) return ofRecord;
  const other = ofRecord ?? ofService;
  if (other !== undefined) {
    const message = "One of the two is mapped to another already";
    throw new ApiError(409, "mapping_exists", message, {
      mappedTo: ofRecord === undefined ? other.record_id : other.service_id,
    });
  }
  const mapped: LinkRow = {
    ...wanted,
    business_id: businessId,
    is_mapped: 1,
    updated_at: ctx.clock.bankNow(),
  };
  putLink(ctx.db, mapped);
  return mapped;
}
