import { describe, expect, it } from "vitest";
import { judgeLookUp } from "../../../src/domain/attempts/look-up.ts";

describe("a look-up", () => {
  it("finds nothing where all payments were known before the first send", () => {
    const found = [{ id: "old", amountCents: 500 }];
    expect(judgeLookUp({ knownPaymentIds: ["old"], amountCents: 500, found })).toEqual({
      kind: "none",
    });
  });

  it("adopts new payments that sum to the attempt's amount, splits included", () => {
    const found = [
      { id: "old", amountCents: 500 },
      { id: "a", amountCents: 300 },
      { id: "b", amountCents: 200 },
    ];
    expect(judgeLookUp({ knownPaymentIds: ["old"], amountCents: 500, found })).toEqual({
      kind: "adopt",
      paymentIds: ["a", "b"],
    });
  });

  it("counts a payment once that two pages repeat", () => {
    const twice = { id: "a", amountCents: 250 };
    const verdict = judgeLookUp({ knownPaymentIds: [], amountCents: 500, found: [twice, twice] });
    expect(verdict).toEqual({ kind: "partial", paymentIds: ["a"], foundCents: 250 });
  });

  it("adopts neither too little nor too much", () => {
    const found = [{ id: "a", amountCents: 501 }];
    expect(judgeLookUp({ knownPaymentIds: [], amountCents: 500, found }).kind).toBe("partial");
  });
});
