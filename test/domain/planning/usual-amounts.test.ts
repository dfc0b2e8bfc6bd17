import { expect, test } from "vitest";
import { makeBook } from "../../../src/domain/planning/book.ts";
import { usualAmounts } from "../../../src/domain/planning/usual-amounts.ts";
import { bill, paid, vendor } from "./fixtures.ts";

const NOW_MS = Date.parse("2026-11-19T15:00:00Z");

/** The usual amount of a vendor with paid bills of these dollars, seen from one bill. */
function usual(dollars: readonly number[], except: string): number | null {
  const bills = dollars.map((amount) => bill(`of ${amount}`, { totalCents: amount * 100 }));
  const payments = bills.map(({ payableId, totalCents }) =>
    paid(payableId, { amountCents: totalCents }),
  );
  const cents = usualAmounts(makeBook(bills, [vendor("v1")], payments), NOW_MS)("v1", except);
  return cents === null ? null : cents / 100;
}

test.each([
  ["none if no bill was paid", [], "new", null],
  ["the only amount", [5], "new", 5],
  ["the amount in the middle", [10, 90, 20], "new", 20],
  ["half-way between the two in the middle", [10, 90, 20, 40], "new", 30],
  ["none if only the bill itself was paid", [5], "of 5", null],
  ["what the others have in the middle, for the smallest", [10, 20, 30, 40], "of 10", 30],
  ["what the others have in the middle, for one below it", [10, 20, 30, 40], "of 20", 30],
  ["what the others have in the middle, for one above it", [10, 20, 30, 40], "of 30", 20],
  ["what the others have in the middle, for the largest", [10, 20, 30, 40], "of 40", 20],
  ["half-way between two of the others, for one between them", [10, 20, 30, 40, 50], "of 30", 30],
  ["half-way between two of the others, for the largest", [10, 20, 30, 40, 90], "of 90", 25],
  ["half-way between two of the others, for the smallest", [10, 20, 30, 40, 90], "of 10", 35],
])("a vendor's usual amount is %s", (_, dollars, except, expected) => {
  expect(usual(dollars, except)).toBe(expected);
});
