import { type Requester, segment } from "../requester.ts";
import {
  type AccountingAuthorization,
  accountingAuthorizationSchema,
  type AccountingConnection,
  accountingConnectionSchema,
  type AccountingIntegration,
  accountingIntegrationListSchema,
  type AccountingInvoiceField,
  type AccountingMapping,
  accountingMappingSchema,
  type AccountingSync,
  accountingSyncSchema,
  invoiceFieldListSchema,
} from "../schemas/accounting.ts";
import { whereShown } from "../schemas/common.ts";
import type { CallOptions } from "../transport.ts";
import { businessPath } from "./businesses.ts";

/** The entity types that a sync can cover (API specification, section 2). */
type AccountingEntityType = "vendors" | "bankAccounts" | "invoices";

const startedSchema = whereShown(accountingSyncSchema);
const mappedSchema = whereShown(accountingMappingSchema);

/**
 * The accounting integration of a business (API specification, section 4). The specification shows
 * only `authorizationUrl` of the responses. These writes take no idempotency key.
 */
export class Accounting {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
  }

  list(businessId: string, options?: CallOptions): Promise<AccountingIntegration[]> {
    const path = accountingPath(businessId);
    return this.#requester.read(path, accountingIntegrationListSchema, options);
  }

  /** Starts OAuth 2.0; the caller sends the user's browser to `authorizationUrl`. */
  connect(
    businessId: string,
    redirectUri: string,
    options?: CallOptions,
  ): Promise<AccountingAuthorization> {
    const path = `${accountingPath(businessId)}/connect`;
    const write = { ...options, method: "POST" as const, path, body: { redirectUri } };
    return this.#requester.write(write, accountingAuthorizationSchema);
  }

  getStatus(businessId: string, options?: CallOptions): Promise<AccountingConnection> {
    const path = `${accountingPath(businessId)}/status`;
    return this.#requester.read(path, accountingConnectionSchema, options);
  }

  /** Stops future syncs; the synced data is kept. */
  disconnect(businessId: string, options?: CallOptions): Promise<void> {
    const path = `${accountingPath(businessId)}/disconnect`;
    return this.#requester.writeWithoutAnswer({ ...options, method: "DELETE", path });
  }

  /** Returns the most recent sync. */
  getSyncStatus(
    businessId: string,
    accountingIntegrationId: string,
    options?: CallOptions,
  ): Promise<AccountingSync> {
    const path = `${integrationPath(businessId, accountingIntegrationId)}/sync/status`;
    return this.#requester.read(path, accountingSyncSchema, options);
  }

  /** Starts a sync of one entity type, or of all if none is named. */
  sync(
    businessId: string,
    accountingIntegrationId: string,
    entityType?: AccountingEntityType,
    options?: CallOptions,
  ): Promise<AccountingSync | undefined> {
    const all = `${integrationPath(businessId, accountingIntegrationId)}/sync`;
    const path = entityType === undefined ? all : `${all}/${segment(entityType)}`;
    return this.#requester.write({ ...options, method: "POST", path }, startedSchema);
  }

  /** Lists which field of a payable maps to which field of an accounting bill. */
  listInvoiceFields(
    businessId: string,
    accountingIntegrationId: string,
    options?: CallOptions,
  ): Promise<AccountingInvoiceField[]> {
    const path = `${integrationPath(businessId, accountingIntegrationId)}/invoice-fields`;
    return this.#requester.read(path, invoiceFieldListSchema, options);
  }

  mapVendor(
    businessId: string,
    accountingIntegrationId: string,
    mapping: { connectionId: string; accountingVendorId: string },
    options?: CallOptions,
  ): Promise<AccountingMapping | undefined> {
    const path = `${integrationPath(businessId, accountingIntegrationId)}/vendors/mappings`;
    const write = { ...options, method: "POST" as const, path, body: mapping };
    return this.#requester.write(write, mappedSchema);
  }

  mapBankAccount(
    businessId: string,
    accountingIntegrationId: string,
    mapping: { fundingSourceId: string; accountingBankAccountId: string },
    options?: CallOptions,
  ): Promise<AccountingMapping | undefined> {
    const path = `${integrationPath(businessId, accountingIntegrationId)}/bank-accounts/mappings`;
    const write = { ...options, method: "POST" as const, path, body: mapping };
    return this.#requester.write(write, mappedSchema);
  }
}

function accountingPath(businessId: string): string {
  return `${businessPath(businessId)}/integrations/accounting`;
}

function integrationPath(businessId: string, accountingIntegrationId: string): string {
  return `${accountingPath(businessId)}/${segment(accountingIntegrationId)}`;
}
