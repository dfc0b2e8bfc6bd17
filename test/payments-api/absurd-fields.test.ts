import { expect, test } from "vitest";
import type { z } from "zod";
import { parseJson } from "../../src/payments-api/answers.ts";
import { balanceTransactionPageSchema } from "../../src/payments-api/schemas/balance-transaction.ts";
import { bankAccountListSchema } from "../../src/payments-api/schemas/bank-account.ts";
import { businessListSchema } from "../../src/payments-api/schemas/business.ts";
import { contactPageSchema } from "../../src/payments-api/schemas/contact.ts";
import { deliveryPageSchema } from "../../src/payments-api/schemas/delivery.ts";
import { fundingSourceListSchema } from "../../src/payments-api/schemas/funding-source.ts";
import { invoicePageSchema } from "../../src/payments-api/schemas/invoice.ts";
import { payablePageSchema } from "../../src/payments-api/schemas/payable.ts";
import { paymentPageSchema } from "../../src/payments-api/schemas/payment.ts";
import { webhookEndpointListSchema } from "../../src/payments-api/schemas/webhook-endpoint.ts";
import { DEEP, textWithDepth } from "../support/deep-json.ts";

const AT = "2026-11-23T14:00:00Z";

/** A record of each list, with every field of the specification (section 2). */
const LISTS: Readonly<Record<string, readonly [z.ZodType, Readonly<Record<string, unknown>>]>> = {
  contacts: [
    contactPageSchema,
    {
      ...{ id: "c", type: "payee", status: "active", displayName: "One", emails: ["a@b.example"] },
      ...{ phone: "1", paymentDirection: "can_be_paid", netTerms: 30, bankAccount: { last4: "1" } },
      ...{ taxInfo: { legalName: "One", taxIdType: "ein", taxIdMask: "1" }, paymentReady: true },
      ...{ createdAt: AT, updatedAt: AT, archivedAt: null },
    },
  ],
  payments: [
    paymentPageSchema,
    {
      ...{ id: "p", status: "scheduled", amountCents: 1, contactId: "c", payableId: "b" },
      ...{ bankAccountId: "ba", paymentRail: "SERVICE", scheduledAt: AT, processedAt: AT },
      ...{ failureReason: "R01", createdAt: AT, updatedAt: AT },
    },
  ],
  payables: [
    payablePageSchema,
    {
      ...{ id: "b", publicId: "BILL-1", status: "approved", paymentStatus: "none" },
      ...{ totalAmountCents: 1, amountPaidCents: 0, remainingAmountCents: 1 },
      ...{ dueDate: "2026-11-23", issueDate: "2026-11-23", customNumber: "7", description: "d" },
      contact: { id: "c", displayName: "One" },
    },
  ],
  fundingSources: [
    fundingSourceListSchema,
    {
      ...{ id: "f", rail: "SERVICE", kind: "balance", name: "Balance", last4: "1" },
      ...{ availableCents: 1, isDefault: true, canPay: true, unavailableReason: null },
      ...{ actionUrl: null, pay: { paymentRail: "SERVICE" } },
    },
  ],
  bankAccounts: [
    bankAccountListSchema,
    {
      ...{ id: "ba", status: "verified", type: "checking", connectionType: "plaid", name: "N" },
      ...{ institutionName: "I", accountNumberLast4: "1", routingNumberLast4: "2" },
      ...{ isDefault: true, microDepositsInitiatedAt: AT, microDepositsCompletedAt: AT },
      verificationAttempts: 1,
    },
  ],
  balanceTransactions: [
    balanceTransactionPageSchema,
    {
      ...{ id: "t", type: "deposit", status: "completed", amountCents: 1, bankAccountId: "ba" },
      ...{ failureReason: null, createdAt: AT, processedAt: AT, updatedAt: AT },
    },
  ],
  deliveries: [
    deliveryPageSchema,
    {
      ...{ id: "d", status: "succeeded", attemptCount: 1, maxAttempts: 10, nextAttemptAt: AT },
      ...{ lastAttemptAt: AT, succeededAt: AT, deadAt: AT, lastResponseCode: 200 },
      ...{ lastResponseBody: "", lastError: null, requestBody: "{}", redeliveryOfId: null },
      createdAt: AT,
    },
  ],
  webhookEndpoints: [
    webhookEndpointListSchema,
    {
      ...{ id: "w", url: "https://payrun.example", events: ["*"], description: "d" },
      ...{ status: "active", secretLast4: "1", createdAt: AT, updatedAt: AT },
    },
  ],
  invoices: [
    invoicePageSchema,
    {
      ...{ id: "i", publicId: "INV-1", status: "open", paymentStatus: "none" },
      ...{ totalAmountCents: 1, amountPaidCents: 0, dueDate: "2026-11-23", customNumber: "7" },
      customer: { id: "c", displayName: "One" },
    },
  ],
  businesses: [
    businessListSchema,
    { id: "z", name: "Z", alias: "z", verificationStatus: "verified" },
  ],
};

const ABSURD: readonly unknown[] = [
  ...[undefined, null, true, "", ".", "..", "a/../b", "NaN", "Infinity", "12", "1e3", "-0"],
  ...[0, -1, 12.5, 1e300, 2 ** 53, "0000-00-00", "+275760-09-13", "2026-02-30", "soon"],
  ...["\ud800", "nul\0", "\u001b[2J", "x".repeat(300), "x".repeat(1_000_000)],
  ...[[], {}, [null], [[]], { id: 7 }, { last4: 4321 }, { displayName: {} }, ["x".repeat(1e6)]],
  ...[DEEP, { last4: DEEP }, ["nul\0", DEEP]],
];

/** Reads a list as it comes over the wire. */
function read(schema: z.ZodType, items: readonly unknown[]): Record<string, unknown>[] {
  const shown = schema.parse(parseJson(textWithDepth({ items, totalCount: items.length })));
  const list = Array.isArray(shown) ? shown : (shown as { items: unknown }).items;
  return list as Record<string, unknown>[];
}

function longest(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Math.max(0, ...Object.values(value).map(longest));
}

test.for(Object.entries(LISTS))(
  "an absurd field of one of the %s keeps no other record from being read, and what is kept of it is bounded",
  ([, [schema, record]]) => {
    const good = { ...record, id: "good" };
    const [alone] = read(schema, [good]);
    for (const field of Object.keys(record)) {
      for (const value of ABSURD) {
        const shown = read(schema, [{ ...record, [field]: value }, null, good, 7, []]);
        expect(shown, field).toHaveLength(5);
        expect(shown[2], field).toEqual(alone);
        const { requestBody: _, ...odd } = shown[0] ?? {};
        expect(longest(odd), field).toBeLessThanOrEqual(2_001);
        expect(String(odd["id"]), field).toMatch(/^[^\p{Cc}]{1,255}$/u);
        const { status = "" } = odd;
        if (typeof status === "string") expect(status.length, field).toBeLessThanOrEqual(64);
      }
    }
  },
);

/** Reads a list and returns what it shows, and the milliseconds that this took. */
function timed(schema: z.ZodType, items: readonly unknown[]) {
  const startedMs = performance.now();
  const shown = read(schema, items);
  return { shown, ms: performance.now() - startedMs };
}

test.for(Object.entries(LISTS))(
  "thousands of showings of one of the %s, each with another field, are one record, and take little longer than as many records",
  ([, [schema, record]]) => {
    const several = Array.from({ length: 5_000 }, (_, at) => ({ ...record, id: `r${at}` }));
    const twins = several.map((each, at) => ({ ...each, id: "same", [`field${at}`]: 1 }));
    const { ms } = timed(schema, several);
    const { shown, ms: twinsMs } = timed(schema, twins);
    expect(shown).toMatchObject([{ id: "same" }]);
    expect(twinsMs).toBeLessThan(ms * 5 + 1_000);
  },
);
