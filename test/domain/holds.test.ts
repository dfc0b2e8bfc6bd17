import { expect, test } from "vitest";
import { holdOn, onHoldText } from "../../src/domain/holds.ts";

const facts = {
  payableId: "pay_1",
  contactId: "con_1",
  sourceId: "balance",
  runId: "pay-run/acme/weekly/2026-11-05",
  playbook: "weekly",
};

test.each([
  ["payable", "pay_1"],
  ["contact", "con_1"],
  ["source", "balance"],
  ["run", facts.runId],
  ["playbook", "weekly"],
  ["all", ""],
])("a hold on %s stops its lines and no others", (scope, value) => {
  const hold = { scope, value, reason: "wait" };
  expect(holdOn([hold], facts)).toBe(hold);
  if (scope === "all") return;
  expect(holdOn([{ ...hold, value: "another" }], facts)).toBeUndefined();
});

test("a hold with an unknown scope stops everything", () => {
  const hold = { scope: "region", value: "west", reason: "wait" };
  expect(holdOn([hold], facts)).toBe(hold);
});

test("a bill on hold shows the first part of a long reason, and a short reason in full", () => {
  const short = {
    author: "cora",
    authorKind: "principal" as const,
    reason: "Check the account. Ann knows: call her.",
  };
  expect(onHoldText(short)).toBe(
    "On hold since cora said: Check the account. Ann knows: call her.",
  );
  const rest = "weekly has seen a later end of its trail. ".repeat(6);
  const long = {
    author: "payrun",
    authorKind: "system" as const,
    reason: `The store is older than what was done with it: ${rest}`,
  };
  expect(onHoldText(long)).toBe("On hold: The store is older than what was done with it …");
  expect(
    onHoldText({ author: "cora", authorKind: "principal" as const, reason: "x".repeat(300) })
      .length,
  ).toBeLessThan(240);
});

test("a bill under several holds says how many remain if the first is released", () => {
  const hold = { author: "cora", authorKind: "principal" as const, reason: "Check the account" };
  expect(onHoldText(hold, 1)).toBe(
    "On hold since cora said: Check the account. 1 more hold applies to it.",
  );
  expect(onHoldText(hold, 2)).toContain("2 more holds apply to it.");
});
