import { describe, expect, test } from "vitest";
import { FIRST_ALONE_MS, nextPollMs } from "../../../src/domain/payments/poll-times.ts";
import { ClockReading } from "../../../src/business/clock.ts";

const NOW = Date.parse("2026-03-02T15:00:01Z");
const MINUTE = 60_000;

function pollMs(
  businessMs: number,
  sinceMs: number,
  { scale = 1, firstMs }: { readonly scale?: number; readonly firstMs?: number } = {},
): number {
  return nextPollMs(new ClockReading({ businessMs, scale }), sinceMs, firstMs);
}

describe("the next poll of a payment", () => {
  test("the next poll comes within five seconds of a change", () => {
    const wait = pollMs(NOW, NOW) - NOW;
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(5_000);
  });

  test("polls come less and less often in the first half hour, then three times a day", () => {
    let now = NOW;
    let polls = 0;
    while (now < NOW + 30 * MINUTE) {
      now = pollMs(now, NOW);
      polls += 1;
    }
    expect(polls).toBeLessThan(20);
    const oneDayOn = now + 24 * 60 * MINUTE;
    for (polls = 0; now < oneDayOn; polls += 1) now = pollMs(now, NOW);
    expect(polls).toBeLessThanOrEqual(5);
  });

  test("a payment that is read alone is polled four times in the first half hour", () => {
    let now = NOW;
    const after: number[] = [];
    while (now < NOW + 30 * MINUTE) {
      now = pollMs(now, NOW, { firstMs: FIRST_ALONE_MS });
      after.push(Math.round((now - NOW) / MINUTE));
    }
    expect(after).toEqual([5, 10, 20, 40]);
  });

  test("a poll comes before the cut-off of every banking day, also across daylight saving", () => {
    const since = Date.parse("2026-03-06T15:00:00Z");
    const hours: string[] = [];
    for (let now = since + 2 * 60 * MINUTE; hours.length < 6;) {
      now = pollMs(now, since);
      hours.push(new Date(now).toISOString().slice(5, 16));
    }
    expect(hours).toEqual([
      "03-06T18:00",
      "03-06T23:00",
      // The clocks change on the Sunday.
      "03-09T12:00",
      "03-09T17:00",
      "03-09T22:00",
      "03-10T12:00",
    ]);
  });

  test("a clock whose days are minutes has its polls at the same times of its days", () => {
    const sinceMs = NOW - 600 * MINUTE;
    expect(pollMs(NOW, sinceMs, { scale: 60 })).toBe(pollMs(NOW, sinceMs));
  });

  test("payments made at almost the same time are polled at the same instant", () => {
    expect(pollMs(NOW, NOW - 700)).toBe(pollMs(NOW + 900, NOW));
  });

  test("on a fast bank clock the next poll is at least a second and a half of real time away", () => {
    expect(pollMs(NOW, NOW, { scale: 43_200 }) - NOW).toBe(1_500 * 43_200);
  });

  test("the next poll comes soon if the service's clock is ahead of ours", () => {
    expect(pollMs(NOW, NOW + 4 * MINUTE) - NOW).toBeLessThanOrEqual(5_000);
  });
});
