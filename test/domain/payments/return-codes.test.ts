import { describe, expect, it } from "vitest";
import type { BankReturnCode } from "../../../src/contracts/reason-codes.ts";
import type { FailureRule } from "../../../src/contracts/playbook.ts";
import { classifyFailure } from "../../../src/domain/payments/failure-policy.ts";
import {
  debitRefusedBy,
  isBankReturnCode,
  RETURN_CODES,
} from "../../../src/domain/payments/return-codes.ts";
import { approvalEnd } from "../../../src/domain/retries/approval.ts";
import {
  BUILT_IN_RULES,
  failureRuleFor,
  unattendedFailures,
} from "../../../src/domain/retries/policy.ts";
import { stepAfterFailure } from "../../../src/domain/retries/step.ts";
import { checkRetryFailed } from "../../../src/playbooks/kinds/retry-failed/checks.ts";

const CODES = Object.keys(RETURN_CODES).filter(isBankReturnCode);
/** Every number that a return code can have, assigned or not. */
const NUMBERS = Array.from({ length: 100 }, (_, n) => `R${String(n).padStart(2, "0")}`);
const MAY_BE_REINITIATED: readonly BankReturnCode[] = ["R01", "R09"];
const OTHERS = NUMBERS.filter(isBankReturnCode).filter(
  (code) => !MAY_BE_REINITIATED.includes(code),
);

/** A rule that retries every failure, which no loaded playbook can contain. */
function retryAll(code: string): FailureRule {
  return {
    ...{ codes: [code], words: ["returned"], action: "retry", pause: false, payAgain: false },
    ...{ when: "next-business-day", atMost: 2, by: ["controller"] },
  };
}

function stepFor(rules: readonly FailureRule[], reason: string) {
  const failed = failureRuleFor(rules, reason);
  return stepAfterFailure({
    ...{ failed, whose: "payer", returnsOfDay: 1, isWhole: true, retriesMade: 0, stopped: null },
    ...{ firstSettledOn: "2026-03-02", today: "2026-03-05" },
  });
}

describe("the table of return codes", () => {
  it("the table says of exactly six codes what of the payer refuses debits from now on", () => {
    const refused = CODES.flatMap((code) => {
      const what = debitRefusedBy(code);
      return what === null ? [] : [`${code} ${what}`];
    });
    expect(refused).toEqual([
      ...["R05 authorization", "R07 authorization", "R08 entry"],
      ...["R10 authorization", "R11 authorization", "R29 account"],
    ]);
  });

  it("the table has the codes that Nacha assigns, and only R01 and R09 may be reinitiated", () => {
    expect(CODES).toHaveLength(70);
    const reinitiated = CODES.filter((code) => RETURN_CODES[code]?.mayBeReinitiated === true);
    expect(reinitiated).toEqual(MAY_BE_REINITIATED);
  });

  it.each(CODES)("the table says what %s means and what a person can do", (code) => {
    const told = `Returned by the bank (${code.toLowerCase()}).`;
    const { code: found, cause, toDo } = classifyFailure(told);
    expect(found).toBe(code);
    expect(cause).toBe(`The bank says ${code}, ${RETURN_CODES[code]?.means ?? ""}.`);
    expect(toDo.length).toBeGreaterThan(20);
    // The text is also shown on the console and in messages: only the command line says what to
    // type.
    expect(toDo).not.toContain("--");
    expect(toDo.includes("new approval")).toBe(!MAY_BE_REINITIATED.includes(code));
  });
});

describe("paying a returned payment again under its approval", () => {
  it.each(MAY_BE_REINITIATED)(
    "a return with %s is paid again under its approval: by rule, by a person, by a playbook",
    (code) => {
      const reason = `${code} returned`;
      expect(stepFor(unattendedFailures("retry-failed", 0).rules, reason).kind).toBe("retry-on");
      expect(stepFor(BUILT_IN_RULES, reason).kind).toBe("wait-for-incident");
      expect(stepFor([retryAll(code)], reason).kind).toBe("retry-on");
      expect(approvalEnd(asked([code]))).toBeNull();
      expect(checkRetryFailed(retryPlaybook(code))).toEqual([]);
    },
  );

  it.each(OTHERS)(
    "a return with %s is never paid again under its approval: by no rule, no person, no playbook",
    (code) => {
      for (const reason of [code, `${code} returned`, `ach_return_${code.toLowerCase()}`]) {
        const unattended = unattendedFailures("retry-failed", 0).rules;
        for (const rules of [unattended, BUILT_IN_RULES, [retryAll(code)], [retryAll("R01")]]) {
          expect(stepFor(rules, reason).kind).not.toBe("retry-on");
          expect(stepFor(rules, reason).kind).not.toBe("wait-for-funds");
          expect(approvalEnd(asked([failureRuleFor(rules, reason).code]))).not.toBeNull();
        }
      }
      // One part of a split is enough, whatever codes the other parts have.
      expect(approvalEnd(asked(["R01", code]))?.reason).toContain(`${code} ends its approval`);
      expect(checkRetryFailed(retryPlaybook(code))).not.toEqual([]);
    },
  );

  it("a failure without a reason is never paid again under its approval", () => {
    const { code } = failureRuleFor(BUILT_IN_RULES, "The dog ate it");
    expect(approvalEnd(asked([code]))).toMatchObject({ code: "unknown_reason" });
  });
});

describe("the reinitiations that an approval covers", () => {
  it("an approval covers two reinitiations", () => {
    expect(approvalEnd({ ...asked(["R01"]), retriesMade: 1 })).toBeNull();
    expect(approvalEnd({ ...asked(["R01"]), retriesMade: 2 })?.code).toBe("retries_used_up");
  });

  it("an approval covers reinitiations within 180 days of the first settlement, counted on the day on which they execute", () => {
    const first = { ...asked(["R09"]), firstSettledOn: "2026-05-31" };
    expect(approvalEnd({ ...first, runsOn: "2026-11-27" })).toBeNull();
    expect(approvalEnd({ ...first, runsOn: "2026-11-28" })?.reason).toMatch(/180 days/);
  });

  it("an approval doesn't end while no payment has come back", () => {
    expect(approvalEnd({ ...asked([]), retriesMade: 9, runsOn: "2036-01-01" })).toBeNull();
  });
});

function asked(codes: readonly (BankReturnCode | null)[]) {
  return { codes, retriesMade: 0, firstSettledOn: "2026-03-02", runsOn: "2026-03-06" };
}

function retryPlaybook(code: string) {
  return { rules: [{ match: [code], retry: "next-business-day" }] };
}
