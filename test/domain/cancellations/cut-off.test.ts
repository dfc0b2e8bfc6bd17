import { describe, expect, test } from "vitest";
import {
  cancelUntilMs,
  executionMs,
  recallOf,
  refundLateFromMs,
  releaseByMs,
} from "../../../src/domain/cancellations/cut-off.ts";
import { ClockReading } from "../../../src/business/clock.ts";

const NOW = new ClockReading({ businessMs: 0 });

const iso = (ms: number | null): string => new Date(ms ?? Number.NaN).toISOString();

describe("when a scheduled payment runs", () => {
  test.each([
    ["2026-01-15", "2026-01-15T14:00:00.000Z", "a plain date in winter"],
    ["2026-07-15", "2026-07-15T13:00:00.000Z", "a plain date in summer"],
    ["2026-07-15T13:00:00.000Z", "2026-07-15T13:00:00.000Z", "the instant itself"],
    ["2026-07-15T00:00:00.000Z", "2026-07-15T13:00:00.000Z", "a date written as midnight UTC"],
    ["2026-03-08", "2026-03-08T13:00:00.000Z", "the day on which clocks go forward"],
    ["2026-11-01", "2026-11-01T14:00:00.000Z", "the day on which clocks go back"],
    ["2026-07-15T00:00:00+00:00", "2026-07-15T13:00:00.000Z", "midnight UTC as an offset"],
    ["2026-07-15T00:00Z", "2026-07-15T13:00:00.000Z", "midnight UTC without seconds"],
    ["2026-07-15T09:00:00", "2026-07-15T13:00:00.000Z", "a time that says no zone"],
    ["2026-07-15 00:00:00", "2026-07-15T13:00:00.000Z", "a date with a blank and no zone"],
    ["2026-07-15T04:00:00Z", "2026-07-15T13:00:00.000Z", "midnight in New York"],
    ["2026-07-15T09:00:00-04:00", "2026-07-15T13:00:00.000Z", "9:00 with New York's offset"],
  ])("a payment scheduled at %s executes at 9:00 New York: %s (%s)", (scheduledAt, expected) => {
    expect(iso(executionMs(scheduledAt))).toBe(expected);
  });

  test.each(["soon", "", "2026-13-45"])(
    "a payment scheduled at “%s” has no known execution time",
    (scheduledAt) => {
      expect(executionMs(scheduledAt)).toBeNull();
      expect(cancelUntilMs(scheduledAt, NOW)).toBeNull();
    },
  );
});

test("a cancel leaves at least five minutes before the payment executes, earlier if the bank clock runs fast", () => {
  const runs = Date.parse("2026-07-15T13:00:00Z");
  expect(cancelUntilMs("2026-07-15", NOW)).toBe(runs - 5 * 60_000);
  expect(cancelUntilMs("2026-07-15", new ClockReading({ businessMs: 0, scale: 3_600 }))).toBe(
    runs - 12_000 * 3_600,
  );
});

test.each([
  ["2026-03-06", "2026-03-06T13:55:00.000Z", "the Friday before clocks go forward"],
  ["2026-03-09", "2026-03-09T12:55:00.000Z", "the Monday after"],
  ["2026-10-30", "2026-10-30T12:55:00.000Z", "the Friday before clocks go back"],
  ["2026-11-02", "2026-11-02T13:55:00.000Z", "the Monday after"],
])("on %s the last cancel leaves at %s (%s)", (scheduledAt, expected) => {
  expect(iso(cancelUntilMs(scheduledAt, NOW))).toBe(expected);
});

test("a bill may be released until a number of banking days before its payment", () => {
  const until = { time: "17:00", businessDaysBefore: 1 };
  expect(iso(releaseByMs("2026-07-15", until))).toBe("2026-07-14T21:00:00.000Z");
  // A Monday's payment: the Friday before; then a payment after Thanksgiving.
  expect(iso(releaseByMs("2026-07-20", until))).toBe("2026-07-17T21:00:00.000Z");
  expect(iso(releaseByMs("2026-11-27", until))).toBe("2026-11-25T22:00:00.000Z");
  // Tuesdays after Labor Day and after a New Year's Day on a Monday; a payment on a Sunday.
  expect(iso(releaseByMs("2026-09-08", until))).toBe("2026-09-04T21:00:00.000Z");
  expect(iso(releaseByMs("2029-01-02", until))).toBe("2028-12-29T22:00:00.000Z");
  expect(iso(releaseByMs("2026-07-19", until))).toBe("2026-07-17T21:00:00.000Z");
  // The Fridays before the Mondays after clocks go forward and go back.
  expect(iso(releaseByMs("2026-03-09", until))).toBe("2026-03-06T22:00:00.000Z");
  expect(iso(releaseByMs("2026-11-02", until))).toBe("2026-10-30T21:00:00.000Z");
});

test("a refund is late once its last banking day in New York is over", () => {
  const friday = Date.parse("2026-07-17T15:00:00Z");
  expect(iso(refundLateFromMs(friday, 3))).toBe("2026-07-23T04:00:00.000Z");
});

describe("calling a payment back", () => {
  const cutOff = Date.parse("2026-07-15T12:55:00Z");
  const at = (state: string, businessMs: number, scheduledAt: string | null = "2026-07-15") =>
    recallOf({ state, scheduledAt }, new ClockReading({ businessMs }));

  test("a scheduled payment can be called back up to and at its cut-off, and not a moment later", () => {
    expect(at("scheduled", cutOff - 1)).toEqual({ untilMs: cutOff });
    expect(at("scheduled", cutOff)).toEqual({ untilMs: cutOff });
    expect(at("scheduled", cutOff + 1)).toBeUndefined();
  });

  test("a held payment can be called back at any time, even after its day has passed", () => {
    expect(at("held", cutOff + 1)).toEqual({ untilMs: null });
    expect(at("held", cutOff + 40 * 86_400_000, null)).toEqual({ untilMs: null });
  });

  test("a scheduled payment whose day only the service knows can be called back, with no known limit", () => {
    expect(at("scheduled", cutOff, null)).toEqual({ untilMs: null });
    expect(at("scheduled", cutOff, "soon")).toEqual({ untilMs: null });
  });

  test.each(["paying", "unknown", "processing", "settled", "planned", "a new word"])(
    "a payment can't be called back while it is %s",
    (state) => expect(at(state, 0)).toBeUndefined(),
  );
});
