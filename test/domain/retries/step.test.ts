import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import type { FailureRule } from "../../../src/contracts/playbook.ts";
import { isBankingDay } from "../../../src/domain/clock/bank-calendar.ts";
import {
  BUILT_IN_RULES,
  failureRuleFor,
  unattendedFailures,
} from "../../../src/domain/retries/policy.ts";
import { type FailureFacts, stepAfterFailure } from "../../../src/domain/retries/step.ts";
import { whoseAccount } from "../../../src/domain/retries/whose-account.ts";

const RETRY: FailureRule = {
  codes: ["R01"],
  words: [],
  action: "retry",
  pause: false,
  payAgain: false,
  when: "next-business-day",
  atMost: 2,
  by: ["controller"],
};

function facts(change: Partial<FailureFacts> = {}): FailureFacts {
  return {
    failed: { code: "R01", rule: RETRY },
    whose: "payer",
    returnsOfDay: 1,
    isWhole: true,
    retriesMade: 0,
    firstSettledOn: "2026-03-02",
    today: "2026-03-05",
    stopped: null,
    ...change,
  };
}

describe("after a failure", () => {
  it("a failure is retried on the next banking day, or on the rule's weekday", () => {
    expect(stepAfterFailure(facts())).toMatchObject({ kind: "retry-on", date: "2026-03-06" });
    const tuesday = { code: "R01" as const, rule: { ...RETRY, when: "tuesday" as const } };
    expect(stepAfterFailure(facts({ failed: tuesday }))).toMatchObject({ date: "2026-03-10" });
    // 2026-05-25 is a Monday and Memorial Day.
    const monday = { code: "R01" as const, rule: { ...RETRY, when: "monday" as const } };
    const before = facts({ failed: monday, firstSettledOn: "2026-05-18", today: "2026-05-21" });
    expect(stepAfterFailure(before)).toMatchObject({ date: "2026-05-26" });
  });

  it("a failure whose rule pauses the account waits for one decision about it", () => {
    const failed = failureRuleFor(BUILT_IN_RULES, "R09 Uncollected funds");
    expect(stepAfterFailure(facts({ failed }))).toEqual({ kind: "wait-for-incident" });
  });

  it.each([
    ["a part of a split failed", { isWhole: false }],
    ["its run was cancelled", { stopped: "cancelled" }],
    ["two retries were made", { retriesMade: 2 }],
    ["180 days are over", { firstSettledOn: "2025-09-01" }],
  ])("a failure goes to a person if %s", (_, change) => {
    expect(stepAfterFailure(facts(change)).kind).toBe("park");
  });

  it("the vendor is held if the account is or may be the vendor's, and our account if it is ours", () => {
    const failed = failureRuleFor(BUILT_IN_RULES, "R02 Account closed");
    const step = (whose: FailureFacts["whose"]) => stepAfterFailure(facts({ failed, whose }));
    expect(step("payee")).toMatchObject({ kind: "park", hold: "vendor" });
    expect(step("unknown")).toMatchObject({
      hold: "vendor",
      why: expect.stringMatching(/check both/),
    });
    expect(step("payer")).toEqual({ kind: "wait-for-incident" });
  });

  it.each(["R05", "R07", "R10", "R11", "R29", "R02", "R16"])(
    "a return with %s of our own account waits for one decision about it, whatever the rule",
    (code) => {
      for (const rules of [BUILT_IN_RULES, unattendedFailures("retry-failed", 0).rules]) {
        const failed = failureRuleFor(rules, code);
        expect(stepAfterFailure(facts({ failed }))).toEqual({ kind: "wait-for-incident" });
        // A line of a cancelled run is parked, and its account is held all the same.
        expect(stepAfterFailure(facts({ failed, stopped: "cancelled" }))).toMatchObject({
          kind: "park",
          hold: "account",
        });
      }
    },
  );

  it("the first stop payment of a day holds its bill, the second holds the account", () => {
    const failed = failureRuleFor(BUILT_IN_RULES, "R08");
    expect(stepAfterFailure(facts({ failed }))).toMatchObject({
      ...{ kind: "park", code: "R08", hold: "bill", undecided: true },
    });
    const second = facts({ failed, returnsOfDay: 2 });
    expect(stepAfterFailure(second)).toEqual({ kind: "wait-for-incident" });
  });

  it("a refused debit that concerns no account of ours holds nothing, whatever the rule", () => {
    const rule = { ...RETRY, action: "hold-vendor", payAgain: true, when: null } as const;
    for (const code of ["R05", "R08", "R29"] as const) {
      const failed = { code, rule };
      expect(stepAfterFailure(facts({ failed, whose: "unknown" }))).toMatchObject({
        ...{ kind: "park", hold: null, undecided: false },
      });
    }
  });

  it("a retry executes on the announced day, which may be day 180 but no later", () => {
    const friday = { code: "R01" as const, rule: { ...RETRY, when: "friday" as const } };
    const tuesday = facts({ failed: friday, firstSettledOn: "2026-05-31", today: "2026-11-24" });
    // Thanksgiving lies between: the request is made on Wednesday and executes on Friday.
    expect(stepAfterFailure(tuesday)).toMatchObject({ kind: "retry-on", date: "2026-11-27" });
    const late = facts({ failed: friday, firstSettledOn: "2026-05-29", today: "2026-11-25" });
    expect(stepAfterFailure(late).kind).toBe("park");
    const next = facts({ firstSettledOn: "2026-11-20", today: "2026-11-25" });
    expect(stepAfterFailure(next)).toMatchObject({ kind: "retry-on", date: "2026-11-27" });
  });

  test.prop([
    fc.integer({ min: 0, max: 5 }),
    fc.integer({ min: 0, max: 400 }),
    fc.constantFrom("next-business-day" as const, "monday" as const, "friday" as const),
  ])("retries never exceed Nacha's limits, and fall on banking days", (retriesMade, age, when) => {
    const today = new Date(Date.UTC(2026, 0, 1) + age * 86_400_000).toISOString().slice(0, 10);
    const failed = { code: "R01" as const, rule: { ...RETRY, when } };
    const step = stepAfterFailure(
      facts({ failed, retriesMade, firstSettledOn: "2026-01-01", today }),
    );
    if (step.kind !== "retry-on") return;
    expect(retriesMade).toBeLessThan(2);
    expect(isBankingDay(step.date)).toBe(true);
    const days = (Date.parse(step.date) - Date.parse("2026-01-01")) / 86_400_000;
    expect(days).toBeLessThanOrEqual(180);
  });
});

describe("the account that a return is about", () => {
  const about = (change: Partial<Parameters<typeof whoseAccount>[0]>) =>
    whoseAccount({
      code: "R03",
      failureReason: "R03 No account",
      sourceKind: "bank",
      othersThrough: 0,
      otherVendorsFailed: 0,
      ...change,
    });

  it("R01 and R09 concern the payer's account, whatever else is known", () => {
    expect(about({ code: "R01", sourceKind: "balance", othersThrough: 9 })).toBe("payer");
    expect(about({ code: "R09" })).toBe("payer");
  });

  it.each(["R02", "R03", "R04", "R12", "R13", "R16", "R20"])(
    "%s is attributed by the source, the text and the day's other payments",
    (code) => {
      const of = (change: Parameters<typeof about>[0]) =>
        about({ code, failureReason: code, ...change });
      expect(of({})).toBe("unknown");
      expect(of({ sourceKind: "balance" })).toBe("payee");
      expect(of({ failureReason: `${code} payer's account` })).toBe("payer");
      expect(of({ failureReason: `${code}: receiver` })).toBe("payee");
      expect(of({ othersThrough: 1 })).toBe("payee");
      expect(of({ otherVendorsFailed: 1 })).toBe("payer");
    },
  );

  it.each(["R05", "R07", "R08", "R10", "R11", "R29"])(
    "%s is about a debit: the payer's bank account, and nobody's if the balance paid",
    (code) => {
      const of = (sourceKind: string) =>
        about({ code, failureReason: `${code} receiver`, sourceKind, othersThrough: 9 });
      expect(of("bank")).toBe("payer");
      expect(of("linked_bank")).toBe("payer");
      expect(of("balance")).toBe("unknown");
    },
  );

  it("a return that shows no owner of the account is left to a person", () => {
    expect(about({})).toBe("unknown");
    expect(about({ failureReason: "R03 debit of the receiver" })).toBe("unknown");
    expect(about({ code: null, failureReason: "The dog ate it" })).toBe("unknown");
  });

  it("a code that only a payee's account can cause is attributed to the vendor", () => {
    expect(about({ code: "R23", failureReason: "R23" })).toBe("payee");
  });
});
