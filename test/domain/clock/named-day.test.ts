import { expect, it } from "vitest";
import { dayOfInstant, namedDay } from "../../../src/domain/clock/named-day.ts";

it.each([
  ["2026-11-30", "2026-11-30"],
  ["2026-11-30T00:00:00.000Z", "2026-11-30"],
  ["2026-11-30T00:00:00Z", "2026-11-30"],
  ["2026-11-30T00:00Z", "2026-11-30"],
  ["2026-11-30 00:00:00+00:00", "2026-11-30"],
  ["2026-11-30 00:00:00+00", "2026-11-30"],
  ["2026-11-30T09:00:00", "2026-11-30"],
  ["2026-11-30T14:00:00.000Z", "2026-11-30"],
  ["2026-11-30T00:00:00-05:00", "2026-11-30"],
  ["2026-11-30T03:00:00Z", "2026-11-29"],
])("a field that names a day as %s is about %s", (text, day) => {
  expect(namedDay(text)).toBe(day);
});

it("an instant at midnight UTC is the day before in New York", () => {
  expect(dayOfInstant("2026-11-30T00:00:00.000Z")).toBe("2026-11-29");
  expect(dayOfInstant("2026-11-30")).toBe("2026-11-30");
});

it.each([null, undefined, "", "soon", "2026-02-30", "2026-02-30T00:00:00Z", "0026-11-30"])(
  "%s names no day",
  (text) => {
    expect(namedDay(text)).toBeNull();
  },
);
