import { describe, expect, test } from "vitest";
import type { AttemptView } from "../../../src/ledger/attempts.ts";
import type { Payment } from "../../../src/payments-api/index.ts";
import { externalIn, paymentsIn } from "../../../src/reports/history/payments.ts";
import { asOfSentences } from "../../../src/reports/history/service-payments.ts";
import type { AuditEntry } from "../../../src/store/audit/audit.ts";

const made = [{ seq: 1, amountCents: 100, paymentIds: ["pmt_1"] }] as unknown as AttemptView[];

function entry(at: number, action: string, subject: string, details: object): AuditEntry {
  return { atMs: at, action, subject, details } as unknown as AuditEntry;
}

const answered = entry(1, "attempt.answered", "bill_1", {
  payments: [{ id: "pmt_1", amountCents: 100, status: "scheduled" }],
});

test("a payment has the status that was last seen, even if a cancellation saw it", () => {
  const cancelled = entry(2, "cancel-payment:refund_pending", "pmt_1", {});
  const back = entry(3, "cancel-payment:refunded", "pmt_1", {});
  const statusAfter = (...trail: AuditEntry[]) => paymentsIn(trail, made)[0]?.status;
  expect(statusAfter(answered)).toBe("scheduled");
  expect(statusAfter(answered, cancelled)).toBe("refund_pending");
  expect(statusAfter(answered, cancelled, back)).toBe("refunded");
  expect(statusAfter(answered, entry(2, "cancel-payment:too-late", "pmt_1", {}))).toBe("scheduled");
});

test("a payment that the trail doesn't know has an unknown status", () => {
  expect(paymentsIn([], made)).toEqual([
    {
      ...{ id: "pmt_1", amountCents: 100, status: "unknown", failureReason: null },
      ...{ seenAt: null, seq: 1, hadSettled: false },
    },
  ]);
});

const AT = "2026-11-23T14:00:00.000Z";
const shownAs = (status: string) => ({
  at: AT,
  payments: [{ id: "pmt_1", amountCents: 100, status, failureReason: "R01" } as Payment],
});

test("the status that the service shows now replaces any that was seen before", () => {
  const [payment] = paymentsIn([answered], made, { shown: shownAs("failed") });
  expect(payment).toMatchObject({ status: "failed", failureReason: "R01", seenAt: AT });
});

test("a payment that the bank took back is known to have settled before", () => {
  const settled = entry(2, "line:settled", "bill_1", {
    payments: [{ id: "pmt_1", amountCents: 100, status: "completed" }],
  });
  const hadSettled = (...trail: AuditEntry[]) =>
    paymentsIn(trail, made, { shown: shownAs("returned") })[0]?.hadSettled;
  expect(hadSettled(answered)).toBe(false);
  expect(hadSettled(answered, settled)).toBe(true);
});

test("while the service doesn't answer, a payment keeps the status that was last read", () => {
  const taken = { id: "pmt_1", amountCents: 100, status: "failed", updatedAt: null };
  const [payment] = paymentsIn([answered], made, { seen: new Map([["pmt_1", taken]]) });
  expect(payment).toMatchObject({ status: "failed", seenAt: new Date(1).toISOString() });
});

test("a payment that no request has made is an external payment", () => {
  const { payments } = shownAs("completed");
  expect(
    externalIn(
      payments,
      made.map(() => ({ id: "pmt_1" })),
      () => true,
    ),
  ).toEqual([]);
  expect(externalIn(payments, [], () => true)).toMatchObject([
    { id: "pmt_1", status: "completed", mayBeOurs: true },
  ]);
});

describe("the age of what is shown about a bill", () => {
  const seen = [{ id: "pmt_1", seenAt: AT }];

  test("the age is not mentioned if the service has just shown all of the bill's payments", () => {
    expect(asOfSentences(shownAs("completed"), seen, "America/New_York")).toEqual([]);
  });

  test("the age is stated if the service doesn't answer", () => {
    expect(asOfSentences(undefined, seen, "America/New_York")).toEqual([
      "This is as of Mon, Nov 23, 9:00 AM New York, when Payrun last saw its payments: the service didn't answer now.",
    ]);
    expect(asOfSentences(undefined, [], "America/New_York")).toEqual([
      "The service didn't answer: this is what Payrun knows by itself.",
    ]);
  });

  test("a payment that the service no longer lists is named", () => {
    expect(asOfSentences({ at: AT, payments: [] }, seen, "America/New_York")).toEqual([
      "The service doesn't list pmt_1 among its payments now: what is shown here is what Payrun saw last.",
    ]);
  });
});
