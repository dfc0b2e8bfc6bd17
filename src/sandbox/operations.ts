import { accountingOperations } from "./accounting/operations.ts";
import { balanceOperations } from "./balance/operations.ts";
import { bankAccountOperations } from "./bank-accounts/operations.ts";
import { businessOperations } from "./businesses/operations.ts";
import { invoiceOperations } from "./invoices/operations.ts";
import type { ServiceOperation } from "./http/operation.ts";
import { paymentOperations } from "./payments/operations.ts";
import { contactOperations } from "./resources/contact-operations.ts";
import { payableOperations } from "./resources/payable-operations.ts";
import { webhookOperations } from "./webhooks/operations.ts";

/** Every operation of the service. REST, MCP and OpenAPI are made from this list. */
export const operations: readonly ServiceOperation[] = [
  ...paymentOperations,
  ...contactOperations,
  ...payableOperations,
  ...balanceOperations,
  ...bankAccountOperations,
  ...businessOperations,
  ...invoiceOperations,
  ...accountingOperations,
  ...webhookOperations,
];
