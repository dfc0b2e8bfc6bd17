import { isAHoliday } from "@18f/us-federal-holidays";
import { expect, it } from "vitest";
import {
  newYorkDay,
  newYorkInstant,
  settlementInstant,
} from "../../src/sandbox/payments/banking-days.ts";

const dayMs = 86_400_000;

it("banking days are the Federal Reserve's for twenty years", () => {
  const oracle = (day: Date) =>
    day.getUTCDay() % 6 !== 0 && !isAHoliday(day, { shiftSaturdayHolidays: false, utc: true });
  for (let day = Date.UTC(2024, 0, 1); day < Date.UTC(2044, 0, 1); day += dayMs) {
    let next = day + dayMs;
    while (!oracle(new Date(next))) next += dayMs;
    const fromMs = newYorkInstant(new Date(day).toISOString().slice(0, 10), "12:00");
    expect(newYorkDay(settlementInstant(fromMs, 1))).toBe(
      new Date(next).toISOString().slice(0, 10),
    );
  }
});

it.each([
  ["2027-07-04T12:00:00Z", "2027-07-06T12:30:00.000Z", "a Sunday holiday closes the Monday"],
  ["2026-07-02T12:00:00Z", "2026-07-03T12:30:00.000Z", "a Saturday holiday leaves the Friday open"],
  ["2026-11-25T12:00:00Z", "2026-11-27T13:30:00.000Z", "Thanksgiving"],
])("a payment of %s settles a banking day later, at %s: %s", (from, next) => {
  expect(new Date(settlementInstant(Date.parse(from), 1)).toISOString()).toBe(next);
});

it("New York's date is right on both sides of midnight and of daylight saving", () => {
  expect(newYorkDay(Date.parse("2029-03-12T03:59:59Z"))).toBe("2029-03-11");
  expect(newYorkDay(Date.parse("2029-03-12T04:00:00Z"))).toBe("2029-03-12");
  expect(newYorkDay(Date.parse("2029-11-05T04:59:59Z"))).toBe("2029-11-04");
  expect(newYorkDay(Date.parse("2029-11-05T05:00:00Z"))).toBe("2029-11-05");
});
