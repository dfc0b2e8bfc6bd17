import type { PaymentsClient } from "../../src/payments-api/index.ts";
import { payment } from "./local-service.ts";

const contact = { id: "c", type: "payee", status: "active", paymentReady: true };
const payable = {
  id: "b",
  status: "draft",
  paymentStatus: "none",
  totalAmountCents: 1,
  amountPaidCents: 0,
};
const key = { idempotencyKey: "key" };
export const accounting = "/api/businesses/b/integrations/accounting";

interface Call {
  call: (client: PaymentsClient) => Promise<unknown>;
  request: string;
  answer: unknown;
  body?: unknown;
  withKey?: boolean;
}

/** One call of each kind, with the request that the API specification requires. */
export const calls: readonly Call[] = [
  {
    call: (client) => client.contacts.list({ status: "revoked", page: 2, pageSize: 10 }),
    request: "GET /v1/contacts?status=revoked&page=2&pageSize=10",
    answer: { items: [contact], totalCount: 11 },
  },
  {
    call: (client) => client.contacts.get("c/1"),
    request: "GET /v1/contacts/c%2F1",
    answer: { ...contact, id: "c/1" },
  },
  {
    call: (client) => client.contacts.create({ displayName: "A" }, key),
    request: "POST /v1/contacts",
    answer: contact,
    body: { displayName: "A" },
    withKey: true,
  },
  {
    call: (client) => client.contacts.update("c", { netTerms: 30 }),
    request: "PATCH /v1/contacts/c",
    answer: contact,
    body: { netTerms: 30 },
  },
  {
    call: (client) => client.contacts.archive("c", key),
    request: "POST /v1/contacts/c/archive",
    answer: contact,
    withKey: true,
  },
  {
    call: (client) => client.contacts.unarchive("c"),
    request: "POST /v1/contacts/c/unarchive",
    answer: {},
  },
  {
    call: (client) => client.payables.list({ status: "approved" }),
    request: "GET /v1/payables?status=approved",
    answer: { items: [], totalCount: 0 },
  },
  { call: (client) => client.payables.get("b"), request: "GET /v1/payables/b", answer: payable },
  {
    call: (client) => client.payables.create({ totalAmountCents: 1 }, key),
    request: "POST /v1/payables",
    answer: { id: "b" },
    body: { totalAmountCents: 1 },
    withKey: true,
  },
  {
    call: (client) => client.payables.submit("b"),
    request: "POST /v1/payables/b/submit",
    answer: payable,
  },
  {
    call: (client) => client.payments.get("p"),
    request: "GET /v1/payments/p",
    answer: payment("p"),
  },
  {
    call: (client) => client.payments.create({ contactId: "c", amountCents: 5 }, key),
    request: "POST /v1/payments",
    answer: { payableId: "b", payments: [payment("p"), payment("q")] },
    body: { contactId: "c", amountCents: 5 },
    withKey: true,
  },
  {
    call: (client) => client.payments.cancel("p", { reason: "twice" }, key),
    request: "POST /v1/payments/p/cancel",
    answer: { payment: payment("p"), message: "stopped" },
    body: { reason: "twice" },
    withKey: true,
  },
  {
    call: (client) => client.payments.retry("b", key),
    request: "POST /v1/payables/b/retry-payment",
    answer: "whatever it is",
    withKey: true,
  },
  {
    call: (client) => client.bankAccounts.get("ba"),
    request: "GET /v1/bank-accounts/ba",
    answer: { id: "ba", status: "verified" },
  },
  {
    call: (client) => client.webhookEndpoints.create({ url: "http://a", events: ["*"] }),
    request: "POST /v1/webhook-endpoints",
    answer: { id: "we", secret: "whsec_1" },
    body: { url: "http://a", events: ["*"] },
  },
  {
    call: (client) => client.webhookEndpoints.update("we", { status: "active" }, key),
    request: "PATCH /v1/webhook-endpoints/we",
    answer: { id: "we" },
    body: { status: "active" },
    withKey: true,
  },
  {
    call: (client) => client.webhookEndpoints.rotateSecret("we"),
    request: "POST /v1/webhook-endpoints/we/rotate-secret",
    answer: { id: "we", secret: "whsec_2" },
  },
  {
    call: (client) => client.deliveries.list("we", { page: 1 }),
    request: "GET /v1/webhook-endpoints/we/deliveries?page=1",
    answer: { items: [{ id: "d", requestBody: "{}" }], totalCount: 1 },
  },
  {
    call: (client) => client.deliveries.redeliver("we", "d", key),
    request: "POST /v1/webhook-endpoints/we/deliveries/d/redeliver",
    answer: { id: "d2" },
    withKey: true,
  },
  {
    call: (client) => client.invoices.list({ status: "open", page: 1 }),
    request: "GET /v1/invoices?status=open&page=1",
    answer: { items: [{ id: "i" }], totalCount: 1 },
  },
  {
    call: (client) => client.invoices.create({ customerId: "c", items: [] }, key),
    request: "POST /v1/invoices",
    answer: { id: "i" },
    body: { customerId: "c", items: [] },
    withKey: true,
  },
  {
    call: (client) => client.invoices.send("i", key),
    request: "POST /v1/invoices/i/send",
    answer: { sent: true },
    withKey: true,
  },
  { call: (client) => client.invoices.void("i"), request: "POST /v1/invoices/i/void", answer: 1 },
  {
    call: (client) => client.invoices.markPaid("i", { amountCents: 5 }),
    request: "POST /v1/invoices/i/mark-paid",
    answer: {},
    body: { amountCents: 5 },
  },
  {
    call: (client) => client.invoices.setPaymentLink("i", { enabled: false }, key),
    request: "POST /v1/invoices/i/payment-link",
    answer: {},
    body: { enabled: false },
    withKey: true,
  },
  {
    call: (client) => client.balance.deposit({ amountCents: 5, bankAccountId: "ba" }, key),
    request: "POST /v1/balance/deposits",
    answer: { id: "t", newField: [1] },
    body: { amountCents: 5, bankAccountId: "ba" },
    withKey: true,
  },
  {
    call: (client) => client.balance.withdraw({ amountCents: 5, bankAccountId: "ba" }, key),
    request: "POST /v1/balance/withdrawals",
    answer: { transaction: { id: "t" } },
    body: { amountCents: 5, bankAccountId: "ba" },
    withKey: true,
  },
  {
    call: (client) => client.balance.transactions.list({ page: 2 }),
    request: "GET /v1/balance/transactions?page=2",
    answer: { items: [{ id: "t", type: "fee", amountCents: "?" }], totalCount: 26 },
  },
  {
    call: (client) => client.bankAccounts.verifyMicroDeposits("ba", [12, 34], key),
    request: "POST /v1/bank-accounts/ba/verify-micro-deposits",
    answer: { id: "ba", status: "verified" },
    body: { amountsCents: [12, 34] },
    withKey: true,
  },
  {
    call: (client) => client.businesses.list(),
    request: "GET /api/businesses",
    answer: { businesses: [{ id: "b", anything: {} }] },
  },
  {
    call: (client) => client.businesses.getBalance("b"),
    request: "GET /api/businesses/b/balance",
    answer: { status: "open", availableCents: 1, canSendPayments: true },
  },
  {
    call: (client) =>
      client.businesses.withdrawBalance("b", { amountDollars: 12.34, fundingSourceId: "f" }),
    request: "POST /api/businesses/b/withdraw-balance",
    answer: {},
    body: { amount: 12.34, fundingSourceId: "f" },
  },
  {
    call: (client) => client.accounting.list("b"),
    request: `GET ${accounting}`,
    answer: [{ id: "x" }],
  },
  {
    call: (client) => client.accounting.connect("b", "https://a/b"),
    request: `POST ${accounting}/connect`,
    answer: { authorizationUrl: "https://books" },
    body: { redirectUri: "https://a/b" },
  },
  {
    call: (client) => client.accounting.getStatus("b"),
    request: `GET ${accounting}/status`,
    answer: { connected: "yes" },
  },
  {
    call: (client) => client.accounting.getSyncStatus("b", "x"),
    request: `GET ${accounting}/x/sync/status`,
    answer: {},
  },
  {
    call: (client) => client.accounting.sync("b", "x"),
    request: `POST ${accounting}/x/sync`,
    answer: "started",
  },
  {
    call: (client) => client.accounting.sync("b", "x", "bankAccounts"),
    request: `POST ${accounting}/x/sync/bankAccounts`,
    answer: {},
  },
  {
    call: (client) => client.accounting.listInvoiceFields("b", "x"),
    request: `GET ${accounting}/x/invoice-fields`,
    answer: { data: [{}] },
  },
  {
    call: (client) =>
      client.accounting.mapVendor("b", "x", { connectionId: "c", accountingVendorId: "v" }),
    request: `POST ${accounting}/x/vendors/mappings`,
    answer: {},
    body: { connectionId: "c", accountingVendorId: "v" },
  },
  {
    call: (client) =>
      client.accounting.mapBankAccount("b", "x", {
        fundingSourceId: "f",
        accountingBankAccountId: "a",
      }),
    request: `POST ${accounting}/x/bank-accounts/mappings`,
    answer: [],
    body: { fundingSourceId: "f", accountingBankAccountId: "a" },
  },
];
