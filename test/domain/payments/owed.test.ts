import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { onItsWayCents, overpaidCents, owedCents } from "../../../src/domain/payments/owed.ts";

const amount = fc.integer({ min: 1, max: 1_000_000 });
const status = fc.constantFrom(
  "pending",
  "scheduled",
  "processing",
  "held",
  "completed",
  "failed",
  "returned",
  "cancelled",
  "refund_pending",
  "refunded",
  "a_status_of_tomorrow",
);
const payments = fc.array(fc.record({ status, amountCents: amount }), { maxLength: 8 });

describe("what is owed on a bill", () => {
  it("what is owed is the total minus the larger of paid and completed, and minus all that may still be paid", () => {
    const input = {
      totalCents: 10_000,
      amountPaidCents: 2_000,
      payments: [
        { status: "completed", amountCents: 3_000 },
        { status: "scheduled", amountCents: 1_000 },
        { status: "a_status_of_tomorrow", amountCents: 500 },
        { status: "refund_pending", amountCents: 200 },
        { status: "failed", amountCents: 9_000 },
        { status: "returned", amountCents: 9_000 },
        { status: "cancelled", amountCents: 9_000 },
        { status: "refunded", amountCents: 9_000 },
      ],
    };
    expect(owedCents(input)).toBe(10_000 - 3_000 - 1_700);
    expect(onItsWayCents(input.payments)).toBe(1_700);
  });

  it("the service's own figure counts if it is larger than the payments show", () => {
    expect(owedCents({ totalCents: 100, amountPaidCents: 60, payments: [] })).toBe(40);
  });

  test.prop([amount, fc.nat(1_000_000), payments])(
    "what is owed is never negative, never more than the bill, and paying it never overpays",
    (totalCents, amountPaidCents, made) => {
      const owed = owedCents({ totalCents, amountPaidCents, payments: made });
      expect(owed).toBeGreaterThanOrEqual(0);
      expect(owed).toBeLessThanOrEqual(totalCents);
      const paid = [...made, { status: "scheduled", amountCents: owed }];
      const already = overpaidCents({ totalCents, payments: made });
      expect(overpaidCents({ totalCents, payments: paid })).toBe(already);
    },
  );

  test.prop([amount, payments, amount, status])(
    "what is owed never grows with one more payment",
    (totalCents, made, amountCents, next) => {
      const before = owedCents({ totalCents, amountPaidCents: 0, payments: made });
      const more = [...made, { status: next, amountCents }];
      const after = owedCents({ totalCents, amountPaidCents: 0, payments: more });
      expect(after).toBeLessThanOrEqual(before);
    },
  );

  it("payments above the total raise an alarm, a total that is counted twice doesn't", () => {
    const settled = [{ status: "completed", amountCents: 100 }];
    expect(overpaidCents({ totalCents: 100, payments: settled })).toBe(0);
    const twice = [...settled, { status: "scheduled", amountCents: 40 }];
    expect(overpaidCents({ totalCents: 100, payments: twice })).toBe(40);
  });
});
