export { PaymentsClient, type MoneyWriteAnswer, type PaymentsClientOptions } from "./client.ts";
export {
  NoAnswerError,
  OtherRecordError,
  PaymentsApiError,
  PaymentUnconfirmedError,
  UnexpectedAnswerError,
} from "./errors.ts";
export type { UploadedFile } from "./form.ts";
export { PAGE_SIZE_MAX } from "./pagination.ts";
export type { NewBankAccount } from "./resources/bank-accounts.ts";
export type { BalanceTransfer } from "./resources/balance.ts";
export type { BusinessWithdrawal } from "./resources/businesses.ts";
export type { NewInvoice } from "./resources/invoices.ts";
export type { NewOfficer } from "./resources/officers.ts";
export type { NewPayable } from "./resources/payables.ts";
export type {
  AccountingAuthorization,
  AccountingConnection,
  AccountingIntegration,
  AccountingInvoiceField,
  AccountingMapping,
  AccountingSync,
} from "./schemas/accounting.ts";
export type { Balance } from "./schemas/balance.ts";
export type { BalanceTransaction } from "./schemas/balance-transaction.ts";
export type { BankAccount } from "./schemas/bank-account.ts";
export type { Business, VerificationStatus } from "./schemas/business.ts";
export type { Contact } from "./schemas/contact.ts";
export type { Delivery } from "./schemas/delivery.ts";
export { shortened, UNREADABLE } from "./schemas/common.ts";
export { eventSchema, type WebhookEvent } from "./schemas/event.ts";
export type { FundingSource } from "./schemas/funding-source.ts";
export type { Invoice, InvoiceListItem } from "./schemas/invoice.ts";
export type { BeneficialOwnershipCertification, Officer } from "./schemas/officer.ts";
export type { Payable, PayableListItem } from "./schemas/payable.ts";
export {
  cancelledPaymentSchema,
  createdPaymentsSchema,
  type Payment,
  type PaymentStatus,
} from "./schemas/payment.ts";
export type { TaxInfo, Verification, VerificationDocument } from "./schemas/verification.ts";
export type { WebhookEndpoint } from "./schemas/webhook-endpoint.ts";
export { TimeLimit } from "./time-limit.ts";
export type { TokenSource } from "./token.ts";
export type { CallOptions } from "./transport.ts";
export { verifyWebhook } from "./webhook-signature.ts";
