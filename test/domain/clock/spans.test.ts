import { describe, expect, test } from "vitest";
import { afterSpan, dueForPeopleMs, spanText } from "../../../src/domain/clock/spans.ts";
import { ClockReading } from "../../../src/business/clock.ts";

const iso = (ms: number): string => new Date(ms).toISOString();

describe("spans", () => {
  test.each([
    ["2026-11-20T20:00:00Z", 4, "hours", "2026-11-21T00:00:00Z"],
    ["2026-11-20T20:00:00Z", 2, "days", "2026-11-22T20:00:00Z"],
    ["2026-11-20T20:00:00Z", 2, "business days", "2026-11-24T20:00:00Z"],
    // Over Thanksgiving, and from a weekend.
    ["2026-11-25T20:00:00Z", 1, "business days", "2026-11-27T20:00:00Z"],
    ["2026-11-21T20:00:00Z", 1, "business days", "2026-11-23T20:00:00Z"],
    // The same time of day in New York, on both sides of daylight saving.
    ["2026-10-30T14:00:00Z", 1, "business days", "2026-11-02T15:00:00Z"],
    // Also from the Sunday on which clocks change.
    ["2026-03-08T16:00:07.005Z", 1, "business days", "2026-03-09T16:00:07.005Z"],
    ["2026-11-01T17:00:00Z", 1, "business days", "2026-11-02T17:00:00Z"],
  ] as const)("a span that begins at %s and lasts %d %s ends at %s", (from, count, unit, to) => {
    expect(iso(afterSpan(Date.parse(from), { count, unit }))).toBe(iso(Date.parse(to)));
  });

  test("a span for people is at least a real minute, however fast the clock runs", () => {
    const span = { count: 1, unit: "days" } as const;
    const day = 86_400_000;
    expect(dueForPeopleMs(new ClockReading({ businessMs: 0, scale: 1 }), span)).toBe(day);
    expect(dueForPeopleMs(new ClockReading({ businessMs: 0, scale: 60 }), span)).toBe(day);
    expect(dueForPeopleMs(new ClockReading({ businessMs: 0, scale: 43_200 }), span)).toBe(
      60_000 * 43_200,
    );
  });

  test("a span is written as its author wrote it", () => {
    expect(spanText({ count: 1, unit: "business days" })).toBe("1 business day");
    expect(spanText({ count: 4, unit: "hours" })).toBe("4 hours");
  });
});
