import { z } from "zod";
import { defineOperation, type ServiceOperation } from "../http/operation.ts";
import { listShape } from "../http/shapes.ts";
import { mapBankAccount, mapVendor } from "./mappings.ts";
import { accountingPath, ownIntegration } from "./own-integration.ts";
import { bankAccountMappingShape, invoiceFieldShape, vendorMappingShape } from "./shapes.ts";

const base = `${accountingPath}/{accountingIntegrationId}`;
const id = z.string().min(1).max(200);

const fromAccounting = [
  ["contact.id", "vendorId"],
  ["customNumber", "number"],
  ["issueDate", "issueDate"],
  ["dueDate", "dueDate"],
  ["description", "memo"],
  ["items", "lines"],
  ["totalAmountCents", "lines"],
].map(([payableField, accountingField]) => ({
  payableField,
  accountingField,
  direction: "from_accounting",
}));

const invoiceFields = [
  ...fromAccounting,
  { payableField: "amountPaidCents", accountingField: "status", direction: "to_accounting" },
];

const listInvoiceFields = defineOperation({
  name: "listAccountingInvoiceFields",
  summary: "Lists which field of a payable is which of an accounting bill.",
  method: "GET",
  path: `${base}/invoice-fields`,
  scopes: ["businesses:read", "businesses:write"],
  idempotency: "none",
  answer: { status: 200, body: listShape(invoiceFieldShape) },
  handler: ({ ctx, caller, params }) => {
    ownIntegration(ctx, caller, params);
    return { status: 200, body: { items: invoiceFields } };
  },
});

const createVendorMapping = defineOperation({
  name: "mapAccountingVendor",
  summary: "Maps a connection (a contact of the business) to a vendor of the accounting system.",
  description:
    "From then on the vendor's bills belong to this contact, and no sync changes the contact. What " +
    "a sync chose is replaced; what somebody has mapped to something else is 409 `mapping_exists`.",
  method: "POST",
  path: `${base}/vendors/mappings`,
  scopes: ["businesses:write"],
  idempotency: "refused",
  errors: ["not_found", "accounting_not_connected", "mapping_exists"],
  body: z.object({ connectionId: id, accountingVendorId: id }),
  answer: { status: 201, body: vendorMappingShape },
  handler: ({ ctx, caller, params, body }) => {
    const integration = ownIntegration(ctx, caller, params);
    const { connectionId, accountingVendorId } = body;
    return { status: 201, body: mapVendor(ctx, integration, connectionId, accountingVendorId) };
  },
});

const createBankAccountMapping = defineOperation({
  name: "mapAccountingBankAccount",
  summary: "Maps a funding source to a bank account of the accounting system.",
  description: "What is mapped to something else already is 409 `mapping_exists`.",
  method: "POST",
  path: `${base}/bank-accounts/mappings`,
  scopes: ["businesses:write"],
  idempotency: "refused",
  errors: ["not_found", "accounting_not_connected", "mapping_exists"],
  body: z.object({ fundingSourceId: id, accountingBankAccountId: id }),
  answer: { status: 201, body: bankAccountMappingShape },
  handler: ({ ctx, caller, params, body }) => {
    const integration = ownIntegration(ctx, caller, params);
    const { fundingSourceId, accountingBankAccountId } = body;
    return {
      status: 201,
      body: mapBankAccount(ctx, integration, fundingSourceId, accountingBankAccountId),
    };
  },
});

export const mappingOperations: readonly ServiceOperation[] = [
  listInvoiceFields,
  createVendorMapping,
  createBankAccountMapping,
];
