import { describe, expect, test } from "vitest";
import { sourceStandingText, whyNoPayment } from "../../src/domain/funding-source.ts";

const able = { id: "ba_1", canPay: true, unavailableReason: null, actionUrl: null };
const unable = { ...able, canPay: false };

test("a funding source's standing is described in words, with a code only if the reason is unknown", () => {
  expect(sourceStandingText(able)).toBe("can pay");
  expect(sourceStandingText(unable)).toBe("can't pay");
  const reauth = sourceStandingText({ ...unable, unavailableReason: "bank_reauth" });
  expect(reauth).toBe("can't pay: its bank wants the owner to sign in again");
  expect(sourceStandingText({ ...unable, unavailableReason: "moon_phase" })).toContain(
    "moon_phase",
  );
});

describe("why nothing can be paid from a source", () => {
  test("a source that can pay has no reason against it", () => {
    expect(whyNoPayment("ba_1", able)).toBeNull();
  });

  test.each([
    "cleo_pay_not_ready",
    "no_linked_bank",
    "bank_funding_unavailable",
    "bank_reauth",
    "rail_not_ready",
  ])("the reason %s is explained, with its code and where to fix it", (unavailableReason) => {
    const actionUrl = "https://app.example/fix";
    const text = whyNoPayment("ba_1", { ...unable, unavailableReason, actionUrl });
    expect(text).toMatch(
      new RegExp(`^Funding source “ba_1” can't pay now: [a-z].* \\(${unavailableReason}\\)\\. `),
    );
    expect(text).toMatch(/ Fix it at https:\/\/app\.example\/fix$/);
  });

  test("an unknown reason of the service is shown as it is, and a missing one is said to be missing", () => {
    const odd = { ...unable, unavailableReason: "moon_phase" };
    expect(whyNoPayment("ba_1", odd)).toBe(
      "Funding source “ba_1” can't pay now: the service says moon_phase.",
    );
    expect(whyNoPayment("ba_1", unable)).toContain("the service doesn't say why");
  });

  test("a source that the service no longer lists is said to be removed", () => {
    expect(whyNoPayment("ba_1", undefined)).toMatch(/“ba_1”.*doesn't list it any more/);
  });
});
