import { describe, expect, test } from "vitest";
import { mismatchOf } from "../../../src/domain/payments/mismatch.ts";

const BANK = {
  amountCents: 100_00,
  funding: {
    rail: "PROVIDER",
    kind: "bank",
    pay: { paymentRail: "PROVIDER", bankAccountId: "main" },
  },
};

function payment(change: {
  amountCents?: number;
  paymentRail?: string | null;
  bankAccountId?: string | null;
}) {
  return { amountCents: 100_00, paymentRail: "PROVIDER", bankAccountId: "main", ...change };
}

describe("comparing payments with what was approved", () => {
  test("an equal payment, or a split that sums to the amount, is no mismatch", () => {
    expect(mismatchOf(BANK, [payment({})])).toBeNull();
    expect(
      mismatchOf(BANK, [payment({ amountCents: 60_00 }), payment({ amountCents: 40_00 })]),
    ).toBeNull();
  });

  test("a payment of a different amount is a mismatch", () => {
    expect(mismatchOf(BANK, [payment({ amountCents: 99_00 })])).toContain("9900 cents");
  });

  test("another source's rail is a mismatch; an unknown rail or none is not", () => {
    expect(mismatchOf(BANK, [payment({ paymentRail: "SERVICE" })])).toContain("rail is SERVICE");
    expect(mismatchOf(BANK, [payment({ paymentRail: "ACH_X" })])).toBeNull();
    expect(mismatchOf(BANK, [payment({ paymentRail: null })])).toBeNull();
  });

  test("a payment by the rail that the approved source requires is no mismatch", () => {
    const approved = {
      ...BANK,
      funding: { ...BANK.funding, pay: { ...BANK.funding.pay, paymentRail: "SERVICE" } },
    };
    expect(mismatchOf(approved, [payment({ paymentRail: "SERVICE" })])).toBeNull();
  });

  test("a payment from a different bank account is a mismatch, one without an account is not", () => {
    expect(mismatchOf(BANK, [payment({ bankAccountId: "other" })])).toContain("bank account");
    expect(mismatchOf(BANK, [payment({ bankAccountId: null })])).toBeNull();
  });

  test("a payment from the balance may name any account", () => {
    const approved = {
      ...BANK,
      funding: { rail: "SERVICE", kind: "balance", pay: { bankAccountId: "main" } },
    };
    const made = payment({ bankAccountId: "balance", paymentRail: "SERVICE" });
    expect(mismatchOf(approved, [made])).toBeNull();
  });
});
