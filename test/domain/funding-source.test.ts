import { describe, expect, test } from "vitest";
import { whyNoPayment } from "../../src/domain/funding-source.ts";

const able = { id: "ba_1", canPay: true, unavailableReason: null, actionUrl: null };
const unable = { ...able, canPay: false };

describe("why nothing can be paid from a source", () => {
  test("is nothing where it can pay", () => {
    expect(whyNoPayment("ba_1", able)).toBeNull();
  });

  test.each([
    "cleo_pay_not_ready",
    "no_linked_bank",
    "bank_funding_unavailable",
    "bank_reauth",
    "rail_not_ready",
  ])("says %s in words, with the code and where to mend it", (unavailableReason) => {
    const actionUrl = "https://app.example/fix";
    const text = whyNoPayment("ba_1", { ...unable, unavailableReason, actionUrl });
    expect(text).toMatch(
      new RegExp(`^Funding source “ba_1” can't pay now: [a-z].* \\(${unavailableReason}\\)\\. `),
    );
    expect(text).toMatch(/ Mend it at https:\/\/app\.example\/fix$/);
  });

  test("passes on a reason that nobody knows, and says where there is none", () => {
    const odd = { ...unable, unavailableReason: "moon_phase" };
    expect(whyNoPayment("ba_1", odd)).toBe(
      "Funding source “ba_1” can't pay now: the service says moon_phase.",
    );
    expect(whyNoPayment("ba_1", unable)).toContain("the service doesn't say why");
  });

  test("says that the service doesn't list it any more", () => {
    expect(whyNoPayment("ba_1", undefined)).toMatch(/“ba_1”.*doesn't list it any more/);
  });
});
