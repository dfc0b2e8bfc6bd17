import { expect, it } from "vitest";
import { allScopes } from "../../../src/sandbox/http/tokens.ts";
import { operations } from "../../../src/sandbox/operations.ts";

/** Every method and path of the specification's section 4 and its table "known only by name". */
const documented = [
  "POST /v1/payments",
  "GET /v1/payments",
  "GET /v1/payments/{}",
  "POST /v1/payments/{}/cancel",
  "POST /v1/contacts",
  "GET /v1/contacts",
  "GET /v1/contacts/{}",
  "PATCH /v1/contacts/{}",
  "POST /v1/contacts/{}/archive",
  "POST /v1/contacts/{}/unarchive",
  "POST /v1/payables",
  "GET /v1/payables",
  "GET /v1/payables/{}",
  "POST /v1/payables/{}/submit",
  "POST /v1/payables/{}/retry-payment",
  "GET /v1/invoices",
  "POST /v1/invoices",
  "GET /v1/invoices/{}",
  "POST /v1/invoices/{}/send",
  "POST /v1/invoices/{}/void",
  "POST /v1/invoices/{}/mark-paid",
  "POST /v1/invoices/{}/payment-link",
  "GET /v1/funding-sources",
  "GET /v1/balance",
  "POST /v1/balance/deposits",
  "POST /v1/balance/withdrawals",
  "GET /v1/balance/transactions",
  "GET /v1/bank-accounts",
  "POST /v1/bank-accounts",
  "GET /v1/bank-accounts/{}",
  "POST /v1/bank-accounts/{}/verify-micro-deposits",
  "POST /v1/webhook-endpoints",
  "GET /v1/webhook-endpoints",
  "PATCH /v1/webhook-endpoints/{}",
  "DELETE /v1/webhook-endpoints/{}",
  "POST /v1/webhook-endpoints/{}/rotate-secret",
  "GET /v1/webhook-endpoints/{}/deliveries",
  "POST /v1/webhook-endpoints/{}/deliveries/{}/redeliver",
  "GET /api/businesses",
  "GET /api/businesses/{}",
  "PATCH /api/businesses/{}/alias",
  "POST /api/businesses/{}/logo",
  "DELETE /api/businesses/{}/logo",
  "GET /api/businesses/{}/balance",
  "POST /api/businesses/{}/withdraw-balance",
  "GET /api/businesses/{}/tax",
  "PATCH /api/businesses/{}/tax",
  "GET /api/businesses/{}/tax/detailed",
  "PATCH /api/businesses/{}/tax/signature",
  "POST /api/businesses/{}/tax/upload-verification-documents",
  "GET /api/businesses/{}/officers",
  "POST /api/businesses/{}/officers",
  "POST /api/businesses/{}/officers/certify-beneficial-ownership",
  "GET /api/businesses/{}/integrations/accounting",
  "POST /api/businesses/{}/integrations/accounting/connect",
  "GET /api/businesses/{}/integrations/accounting/status",
  "DELETE /api/businesses/{}/integrations/accounting/disconnect",
  "GET /api/businesses/{}/integrations/accounting/{}/sync/status",
  "POST /api/businesses/{}/integrations/accounting/{}/sync",
  "POST /api/businesses/{}/integrations/accounting/{}/sync/{}",
  "GET /api/businesses/{}/integrations/accounting/{}/invoice-fields",
  "POST /api/businesses/{}/integrations/accounting/{}/vendors/mappings",
  "POST /api/businesses/{}/integrations/accounting/{}/bank-accounts/mappings",
];

/** Section 7's table: writes that require or refuse a key; all other writes of `/v1` take one. */
const keyRequired = [
  "POST /v1/payments",
  "POST /v1/payments/{}/cancel",
  "POST /v1/payables/{}/retry-payment",
  "POST /v1/balance/deposits",
  "POST /v1/balance/withdrawals",
];
const keyRefused = ["POST /v1/webhook-endpoints", "POST /v1/webhook-endpoints/{}/rotate-secret"];

const offered = new Map(
  operations.map((operation) => [
    `${operation.method} ${operation.path.replace(/\{\w+\}/g, "{}")}`,
    operation,
  ]),
);

it("the sandbox offers every method and path that the specification names", () => {
  expect(documented.filter((address) => !offered.has(address))).toEqual([]);
});

it("every operation has a unique address and a unique name", () => {
  expect(offered.size).toBe(operations.length);
  expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length);
});

it("operations require, take or refuse an Idempotency-Key as section 7 says", () => {
  for (const [address, { idempotency, method, money }] of offered) {
    if (address.includes(" /api/")) continue;
    const expected =
      method === "GET"
        ? "none"
        : keyRequired.includes(address)
          ? "required"
          : keyRefused.includes(address)
            ? "refused"
            : "optional";
    expect([address, idempotency]).toEqual([address, expected]);
    expect([address, money === true]).toEqual([address, expected === "required"]);
  }
});

it("every operation has scopes, all of which a token can have", () => {
  const known = new Set<string>(allScopes);
  for (const { name, scopes } of operations) {
    expect([name, scopes.length > 0]).toEqual([name, true]);
    expect([name, scopes.filter((scope) => !known.has(scope))]).toEqual([name, []]);
  }
});
