import { expect, test } from "vitest";
import { holdOn } from "../../src/domain/holds.ts";

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

test("an unknown scope stops everything: the safe reading", () => {
  const hold = { scope: "region", value: "west", reason: "wait" };
  expect(holdOn([hold], facts)).toBe(hold);
});
