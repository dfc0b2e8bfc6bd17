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

test("a payment is shown as it was seen last, also by who cancelled it", () => {
  const cancelled = entry(2, "cancel-payment:refund_pending", "pmt_1", {});
  const back = entry(3, "cancel-payment:refunded", "pmt_1", {});
  const statusAfter = (...trail: AuditEntry[]) => paymentsIn(trail, made)[0]?.status;
  expect(statusAfter(answered)).toBe("scheduled");
  expect(statusAfter(answered, cancelled)).toBe("refund_pending");
  expect(statusAfter(answered, cancelled, back)).toBe("refunded");
  expect(statusAfter(answered, entry(2, "cancel-payment:too-late", "pmt_1", {}))).toBe("scheduled");
});

test("a payment that the trail doesn't know is on its way for all we know", () => {
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

test("a payment is shown as the service says it now, whatever was seen before", () => {
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

test("while the service doesn't answer, a payment stands as it was last taken over", () => {
  const taken = { id: "pmt_1", amountCents: 100, status: "failed", updatedAt: null };
  const [payment] = paymentsIn([answered], made, { seen: new Map([["pmt_1", taken]]) });
  expect(payment).toMatchObject({ status: "failed", seenAt: new Date(1).toISOString() });
});

test("a payment that no request has made is told apart from Payrun's own", () => {
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

describe("how old what stands about a bill is", () => {
  const seen = [{ id: "pmt_1", seenAt: AT }];

  test("nothing is said of it if the service has just shown all of its payments", () => {
    expect(asOfSentences(shownAs("completed"), seen, "America/New_York")).toEqual([]);
  });

  test("it is said since when the service has not been heard of", () => {
    expect(asOfSentences(undefined, seen, "America/New_York")).toEqual([
      "This is as of Mon, Nov 23, 9:00 AM New York, when Payrun last saw its payments: the service didn't answer now.",
    ]);
    expect(asOfSentences(undefined, [], "America/New_York")).toEqual([
      "The service didn't answer: this is what Payrun knows by itself.",
    ]);
  });

  test("a payment that the service doesn't list is named", () => {
    expect(asOfSentences({ at: AT, payments: [] }, seen, "America/New_York")).toEqual([
      "The service doesn't list pmt_1 among its payments now: what stands here is what Payrun saw last.",
    ]);
  });
});
