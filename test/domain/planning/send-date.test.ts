import { expect, test } from "vitest";
import { isBankingDay } from "../../../src/domain/clock/bank-calendar.ts";
import { addDays } from "../../../src/domain/clock/dates.ts";
import { earliestDate, requestFromMs } from "../../../src/domain/planning/send-date.ts";
import { ClockReading } from "../../../src/business/clock.ts";

/** 400 days with weekends, Thanksgiving, Christmas, New Year and both changes of the clocks. */
const DAYS = Array.from({ length: 400 }, (_, days) => addDays("2026-10-01", days)).filter(
  isBankingDay,
);

test.each([1, 60, 86_400])(
  "a request may name a banking day as the earliest from the start of the day before, and not sooner, at %i times real time",
  (scale) => {
    for (const day of DAYS) {
      const fromMs = requestFromMs(day, new ClockReading({ businessMs: 0, scale }));
      expect(earliestDate(new ClockReading({ businessMs: fromMs, scale }))).toBe(day);
      expect(earliestDate(new ClockReading({ businessMs: fromMs - 1, scale })) < day).toBe(true);
    }
  },
);
