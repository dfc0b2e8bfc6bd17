import { expect, test } from "vitest";
import type { AttemptView } from "../../../src/ledger/attempts.ts";
import { paymentsIn } from "../../../src/reports/history/attempts.ts";
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
    { id: "pmt_1", amountCents: 100, status: "unknown", seenAt: null, seq: 1 },
  ]);
});
