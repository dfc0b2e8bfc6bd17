import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import type { FailureRule } from "../../../src/contracts/playbook.ts";
import {
  BUILT_IN_RULES,
  decidingFailure,
  failureRuleFor,
  unattendedFailures,
} from "../../../src/domain/retries/policy.ts";

const RETRY: FailureRule = {
  codes: ["R01"],
  words: ["no cover"],
  action: "retry",
  pause: false,
  payAgain: false,
  when: "next-business-day",
  atMost: 2,
  by: ["controller"],
};

describe("the rule for a failure", () => {
  it("a failure gets the first rule that names its code, or words of its text", () => {
    expect(failureRuleFor([RETRY], "R01 Insufficient Funds").rule).toBe(RETRY);
    expect(failureRuleFor([RETRY], "There was No Cover on the day")).toEqual({
      code: "R01",
      rule: RETRY,
    });
    expect(failureRuleFor([RETRY], "undercover").rule.action).toBe("ask");
    expect(failureRuleFor([RETRY], "NO_COVER").rule).toBe(RETRY);
    expect(failureRuleFor([{ ...RETRY, words: ["NO_COVER"] }], "no cover").rule.action).toBe(
      "retry",
    );
  });

  it.each([
    ["bank", ["R02", "R10"], "R10"],
    ["bank", ["R08", "R02"], "R08"],
    ["bank", ["R01", "R29"], "R29"],
    ["balance", ["R02", "R10"], "R02"],
    ["bank", ["R01", "R02"], "R02"],
    ["bank", ["R01"], "R01"],
  ])("of a split from %s that failed with %j, %s decides", (kind, codes, code) => {
    const failures = codes.map((failureReason) => ({ failureReason }));
    const { rules } = unattendedFailures("unstored", 0);
    expect(decidingFailure(rules, failures, kind)).toMatchObject({
      failureReason: code,
      ruled: { code },
    });
  });

  it("a failure that no rule matches goes to an operator", () => {
    expect(failureRuleFor([RETRY], "The dog ate it").rule).toMatchObject({
      action: "ask",
      by: ["operator"],
    });
    expect(failureRuleFor([], null).rule.action).toBe("ask");
  });

  it.each([
    "R10 no cover",
    "R01 and R10: no cover",
    "R-01 and R-10: no cover",
    "R77 no cover",
    "return_r10_NO_COVER",
  ])("the reason %j is never retried, whatever words are in it", (text) => {
    expect(failureRuleFor([RETRY], text).rule.action).toBe("ask");
  });

  test.prop([fc.stringMatching(/^(R\d\d|no cover|insufficient funds| |,){1,4}$/)])(
    "a reason that names a code other than R01 and R09 is never retried",
    (text) => {
      const { rule } = failureRuleFor([RETRY, ...BUILT_IN_RULES], text);
      const others = [...text.matchAll(/R\d\d/g)].filter(([code]) => !/R0[19]/.test(code));
      if (others.length > 0 && /\bR(?!01|09)\d\d\b/.test(text)) {
        expect(rule.action).not.toBe("retry");
      }
    },
  );
});

describe("without a stored playbook", () => {
  const ruleOf = (reason: string, otherVendorsFailed: number): FailureRule =>
    failureRuleFor(unattendedFailures("retry-failed", otherVendorsFailed).rules, reason).rule;

  it("without a stored playbook a bounce is retried on the next banking day, at most twice, and other failures go to an operator", () => {
    expect(ruleOf("R01 Insufficient funds", 0)).toMatchObject({
      action: "retry",
      when: "next-business-day",
      atMost: 2,
      pause: false,
    });
    expect(ruleOf("R09 Uncollected funds", 1).when).toBe("next-business-day");
    for (const code of ["R02", "R03", "R05", "R10", "R29"]) {
      expect(ruleOf(`${code} returned`, 0)).toMatchObject({ action: "ask", by: ["operator"] });
    }
  });

  it("without a stored playbook the account is paused once three vendors' payments have bounced on one day", () => {
    expect(ruleOf("R01 Insufficient funds", 2)).toMatchObject({
      action: "retry",
      when: "when-released",
      pause: true,
    });
  });
});
