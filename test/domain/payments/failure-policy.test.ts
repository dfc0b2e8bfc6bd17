import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { classifyFailure, classifyFailures } from "../../../src/domain/payments/failure-policy.ts";
import { failureRuleFor } from "../../../src/domain/retries/policy.ts";
import { isReinitiable } from "../../../src/domain/payments/return-codes.ts";

describe("the failure policy", () => {
  it.each([
    ["Insufficient funds", "R01"],
    ["NSF", "R01"],
    ["uncollected funds", "R09"],
    ["Account closed by customer", "R02"],
    ["The account has been closed", "R02"],
    ["No account / unable to locate account", "R03"],
    ["Invalid account number", "R04"],
    ["Payment stopped", "R08"],
    ["Account frozen", "R16"],
    ["Duplicate entry", "R24"],
    ["Corporate customer advises not authorized", "R29"],
    ["INSUFFICIENT_FUNDS", "R01"],
    ["insufficient-funds", "R01"],
    ["InsufficientFunds", "R01"],
    ["Non-sufficient funds in account", "R01"],
    ["ach_return_r01", "R01"],
    ["ACCOUNT_CLOSED", "R02"],
    ["NON_TRANSACTION_ACCOUNT", "R20"],
    ["R-29", "R29"],
    ["return code R 10", "R10"],
    ["R29CorporateCustomerAdvisesNotAuthorized", "R29"],
    ["Customer advises originator is not authorized to debit the account", "R10"],
    ["UNAUTHORIZED_DEBIT", "R10"],
    ["Authorization has been revoked by the customer", "R07"],
    ["Entry not in accordance with the terms of the authorization", "R11"],
  ])("the reason %j means %s", (text, code) => {
    expect(classifyFailure(text).code).toBe(code);
  });

  it.each([
    ["NSF fee refused: account closed", "R02"],
    ["Payment stopped; insufficient funds", "R08"],
  ])("the reason %j must not be retried", (text, code) => {
    expect(classifyFailure(text)).toMatchObject({ code, mayBeRetried: false });
  });

  it("words of a reason match a rule's words however their letters were typed", () => {
    const rule = { codes: [], words: ["Caf\u00e9 closed"], action: "ask" as const };
    const rules = [
      { ...rule, pause: false, payAgain: false, when: null, atMost: 0 as const, by: ["ada"] },
    ];
    expect(failureRuleFor(rules, "The cafe\u0301 closed").rule.by).toEqual(["ada"]);
  });

  it("a closed account's text explains what happened and what to do", () => {
    const found = classifyFailure("R02 Account closed");
    expect(found.whose).toBe("either");
    expect(found.toDo).toContain("Ask the vendor for new bank details");
  });

  it.each([
    ["R02 Account closed", "R02 Account closed."],
    ["R02", "The bank says R02, account closed."],
    ["account closed", "The bank says R02, account closed."],
    ["computer says no", 'The service said: "computer says no".'],
  ])("the cause of %j is stated only once", (text, cause) => {
    expect(classifyFailure(text).cause).toBe(cause);
  });

  it.each([
    null,
    undefined,
    "",
    "computer says no",
    "R99 unheard of",
    "R01 then R02",
    "R-01 then R-02",
    "ERR01",
  ])("a failure with the reason %j may not be retried", (text) => {
    expect(classifyFailure(text)).toMatchObject({ mayBeRetried: false });
  });

  it("a short balance at the service is not taken for a bank return", () => {
    for (const text of ["Insufficient balance", "INSUFFICIENT_BALANCE"]) {
      const found = classifyFailure(text);
      expect(found).toMatchObject({ code: null, mayBeRetried: false, whose: "payer" });
      expect(found.toDo).toContain("Deposit money");
    }
  });

  it("a line may not be retried if any payment of its split may not", () => {
    const mixed = [{ failureReason: "R01" }, { failureReason: "R02" }];
    expect(classifyFailures(mixed).code).toBe("R02");
    expect(classifyFailures([{ failureReason: "R09" }]).mayBeRetried).toBe(true);
    expect(classifyFailures([]).mayBeRetried).toBe(false);
  });

  test.prop([fc.string()])(
    "classifying never throws, and only R01 and R09 may be retried",
    (text) => {
      const found = classifyFailure(text);
      if (found.mayBeRetried) expect(isReinitiable(found.code)).toBe(true);
    },
  );
});
