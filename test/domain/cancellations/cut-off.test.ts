import { describe, expect, test } from "vitest";
import {
  cancelUntilMs,
  executionMs,
  refundLateFromMs,
  releaseByMs,
} from "../../../src/domain/cancellations/cut-off.ts";

const iso = (ms: number): string => new Date(ms).toISOString();

describe("when a scheduled payment runs", () => {
  test.each([
    ["2026-01-15", "2026-01-15T14:00:00.000Z", "a plain date in winter"],
    ["2026-07-15", "2026-07-15T13:00:00.000Z", "a plain date in summer"],
    ["2026-07-15T13:00:00.000Z", "2026-07-15T13:00:00.000Z", "the instant itself"],
    ["2026-07-15T00:00:00.000Z", "2026-07-15T13:00:00.000Z", "a date written as midnight UTC"],
    ["2026-03-08", "2026-03-08T13:00:00.000Z", "the day on which clocks go forward"],
    ["2026-11-01", "2026-11-01T14:00:00.000Z", "the day on which clocks go back"],
  ])("%s is 9:00 New York: %s (%s)", (scheduledAt, expected) => {
    expect(iso(executionMs(scheduledAt))).toBe(expected);
  });

  test("what is no date is an error", () => {
    expect(() => executionMs("soon")).toThrow(/no date/);
  });
});

test("a cancel leaves at least five minutes before, more where the bank clock runs fast", () => {
  const runs = executionMs("2026-07-15");
  expect(runs - cancelUntilMs("2026-07-15", 1)).toBe(5 * 60_000);
  expect(runs - cancelUntilMs("2026-07-15", 3_600)).toBe(12_000 * 3_600);
  expect(runs - cancelUntilMs("2026-07-15", 0)).toBe(5 * 60_000);
});

test("a bill may be released until so many banking days before it is paid", () => {
  const until = { time: "17:00", businessDaysBefore: 1 };
  expect(iso(releaseByMs("2026-07-15", until))).toBe("2026-07-14T21:00:00.000Z");
  // Monday: the Friday before; and over Thanksgiving.
  expect(iso(releaseByMs("2026-07-20", until))).toBe("2026-07-17T21:00:00.000Z");
  expect(iso(releaseByMs("2026-11-27", until))).toBe("2026-11-25T22:00:00.000Z");
  const onTheDay = { time: "08:00", businessDaysBefore: 0 };
  expect(iso(releaseByMs("2026-07-15", onTheDay))).toBe("2026-07-15T12:00:00.000Z");
});

test("a refund is late once its last banking day in New York is over", () => {
  const friday = Date.parse("2026-07-17T15:00:00Z");
  expect(iso(refundLateFromMs(friday, 3))).toBe("2026-07-23T04:00:00.000Z");
});
