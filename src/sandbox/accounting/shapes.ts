import { z } from "zod";
import { instantShape } from "../http/shapes.ts";
import { syncedEntities } from "./tables.ts";

/**
 * An accounting integration. The specification does not show its shape, so it is the sandbox's
 * choice.
 */
export const integrationShape = z
  .object({
    id: z.string(),
    businessId: z.string(),
    provider: z.string(),
    status: z.enum(["pending", "connected", "disconnected"]),
    connectedAt: instantShape.nullable(),
    disconnectedAt: instantShape.nullable(),
    lastSyncedAt: instantShape.nullable(),
    createdAt: instantShape,
  })
  .meta({ id: "AccountingIntegration" });

/** The state of a business's connection to the accounting system. */
export const connectionShape = z
  .object({
    connected: z.boolean(),
    status: z.enum(["not_connected", "pending", "connected", "disconnected"]),
    accountingIntegrationId: z.string().nullable(),
    provider: z.string().nullable(),
    connectedAt: instantShape.nullable(),
    disconnectedAt: instantShape.nullable(),
    lastSyncedAt: instantShape.nullable(),
  })
  .meta({ id: "AccountingConnection" });

export const connectShape = z.object({
  authorizationUrl: z.url(),
  accountingIntegrationId: z.string(),
});

const count = z.int().min(0);

const resultShape = z.object({
  created: count,
  updated: count,
  unchanged: count,
  skipped: count,
  pushed: count,
});

/** A sync; `results` has an entry for each entity type once it has succeeded. */
export const syncShape = z
  .object({
    id: z.string().nullable(),
    status: z.enum(["not_started", "running", "succeeded", "failed"]),
    entityTypes: z.array(z.enum(syncedEntities)),
    results: z.object({
      vendors: resultShape.optional(),
      bankAccounts: resultShape.optional(),
      invoices: resultShape.optional(),
    }),
    error: z.string().nullable(),
    startedAt: instantShape.nullable(),
    finishedAt: instantShape.nullable(),
  })
  .meta({ id: "AccountingSync" });

export const invoiceFieldShape = z.object({
  payableField: z.string(),
  accountingField: z.string(),
  direction: z.enum(["from_accounting", "to_accounting"]),
});

export const vendorMappingShape = z
  .object({
    accountingIntegrationId: z.string(),
    connectionId: z.string(),
    accountingVendorId: z.string(),
    accountingVendorName: z.string(),
    mappedAt: instantShape,
  })
  .meta({ id: "AccountingVendorMapping" });

export const bankAccountMappingShape = z
  .object({
    accountingIntegrationId: z.string(),
    fundingSourceId: z.string(),
    accountingBankAccountId: z.string(),
    accountingBankAccountName: z.string(),
    mappedAt: instantShape,
  })
  .meta({ id: "AccountingBankAccountMapping" });
