import { expect, test } from "vitest";
import {
  spokenDate,
  spokenDay,
  spokenDeadline,
  spokenSecond,
  spokenSpan,
  spokenStamp,
  spokenTime,
} from "../../../src/domain/clock/spoken.ts";

test("a spoken time is in New York's zone and names it", () => {
  expect(spokenTime("2026-11-23T14:00:00Z")).toBe("Mon, Nov 23, 9:00 AM New York");
  expect(spokenDay("2026-11-24T03:00:00Z")).toBe("Mon, Nov 23");
});

test("a date without a time is the same day in every zone", () => {
  expect(spokenDate("2026-11-30")).toBe("Mon, Nov 30");
});

test("a profile's zone replaces New York's in spoken times", () => {
  const at = "2026-11-23T14:00:00Z";
  expect(spokenTime(at, "America/Los_Angeles")).toBe("Mon, Nov 23, 6:00 AM Los Angeles");
  expect(spokenTime(at, "UTC")).toBe("Mon, Nov 23, 2:00 PM UTC");
});

test("a deadline at midnight is written as the evening before, as people name it", () => {
  expect(spokenDeadline("2026-11-23T05:00:00Z")).toBe("Sunday, Nov 22, 11:59 PM New York");
  expect(spokenDeadline("2026-11-23T14:00:00Z")).toBe("Monday, Nov 23, 9:00 AM New York");
});

test.each([
  ["2026-11-20T23:00:00Z", "Sunday, Nov 22, 11:59 PM New York, 2 days 6 hours left"],
  ["2026-11-23T04:59:30Z", "Sunday, Nov 22, 11:59 PM New York, less than a minute left"],
  ["2026-11-23T05:00:00Z", "Sunday, Nov 22, 11:59 PM New York"],
])("at %s, a deadline is written as: %s", (now, text) => {
  expect(spokenDeadline("2026-11-23T05:00:00Z", { now })).toBe(text);
});

test("a span is written in its two largest units", () => {
  expect(spokenSpan(90 * 60_000)).toBe("1 hour 30 minutes");
  expect(spokenSpan(25 * 3_600_000)).toBe("1 day 1 hour");
  expect(spokenSpan(60_000)).toBe("1 minute");
  expect(spokenSpan(59_999)).toBe("less than a minute");
});

test("a stamp shows the date and time in New York", () => {
  expect(spokenStamp("2026-11-23T04:59:59Z")).toBe("2026-11-22 23:59:59");
  expect(spokenStamp("2026-11-23T05:00:00Z")).toBe("2026-11-23 00:00:00");
});

test("a stamp that stands by itself names its zone", () => {
  expect(spokenSecond("2026-11-02T10:00:00.500Z")).toBe("2026-11-02 05:00:00 New York");
  expect(spokenSecond("2026-11-02T10:00:00Z", "UTC")).toBe("2026-11-02 10:00:00 UTC");
});
