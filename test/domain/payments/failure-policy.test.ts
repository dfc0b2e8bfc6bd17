import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import {
  classifyFailure,
  classifyFailures,
  isReinitiable,
} from "../../../src/domain/payments/failure-policy.ts";

const PARKED = "R02 R03 R04 R05 R07 R08 R10 R11 R12 R13 R14 R15 R16 R17 R20 R23 R24 R29".split(" ");

describe("the failure policy", () => {
  it.each(["R01", "R09"])("tries %s again on the next business day, twice at most", (code) => {
    expect(classifyFailure(`${code} something`)).toMatchObject({
      code,
      whose: "payer",
      action: "retry-next-business-day",
      maxRetries: 2,
      withinDays: 180,
    });
    expect(isReinitiable(code)).toBe(true);
  });

  it.each(PARKED)("parks %s and says what a person can do", (code) => {
    const found = classifyFailure(`Returned by the bank (${code.toLowerCase()}).`);
    expect(found).toMatchObject({ code, action: "park", maxRetries: 0 });
    expect(found.text.length).toBeGreaterThan(30);
    expect(isReinitiable(code)).toBe(false);
  });

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
  ])("reads %j as %s", (text, code) => {
    expect(classifyFailure(text).code).toBe(code);
  });

  it.each([
    ["NSF fee refused: account closed", "R02"],
    ["Payment stopped; insufficient funds", "R08"],
  ])("takes %j for what must not be tried again", (text, code) => {
    expect(classifyFailure(text)).toMatchObject({ code, action: "park" });
  });

  it("tells the vendor story of a closed account", () => {
    const found = classifyFailure("R02 Account closed");
    expect(found.whose).toBe("payee");
    expect(found.text).toContain("Ask the vendor for new bank details");
  });

  it.each([null, undefined, "", "computer says no", "R99 unheard of", "R01 then R02", "ERR01"])(
    "gives %j to a person",
    (text) => {
      expect(classifyFailure(text)).toMatchObject({ action: "park", maxRetries: 0 });
    },
  );

  it("does not take the service's short balance for a return of the bank", () => {
    for (const text of ["Insufficient balance", "INSUFFICIENT_BALANCE"]) {
      const found = classifyFailure(text);
      expect(found).toMatchObject({ code: null, action: "park", whose: "payer" });
      expect(found.text).toContain("Deposit money");
    }
  });

  it("parks a line of which any split must be parked", () => {
    const mixed = [{ failureReason: "R01" }, { failureReason: "R02" }];
    expect(classifyFailures(mixed).code).toBe("R02");
    expect(classifyFailures([{ failureReason: "R09" }]).action).toBe("retry-next-business-day");
    expect(classifyFailures([]).action).toBe("park");
  });

  test.prop([fc.string()])("never throws, and never retries but for R01 and R09", (text) => {
    const found = classifyFailure(text);
    if (found.action === "retry-next-business-day") expect(isReinitiable(found.code)).toBe(true);
  });
});
