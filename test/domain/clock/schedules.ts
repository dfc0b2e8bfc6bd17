import { fc } from "@fast-check/vitest";
import {
  WEEKDAYS,
  type PlaybookSchedule,
  type ScheduleDays,
} from "../../../src/contracts/playbook.ts";

/** Thursdays at 10:00 in New York; on a bank holiday, the business day before. */
export const THURSDAYS: PlaybookSchedule = {
  days: { every: "week", on: "thursday" },
  at: "10:00",
  zone: "America/New_York",
  holidays: "business-day-before",
  catchUpDays: 1,
};

/** Returns a schedule with the time and zone of {@link THURSDAYS} on other days. */
export function on(days: ScheduleDays, more: Partial<PlaybookSchedule> = {}): PlaybookSchedule {
  return { ...THURSDAYS, days, ...more };
}

const days: fc.Arbitrary<ScheduleDays> = fc.oneof(
  fc.constant({ every: "day" } as const),
  fc.constant({ every: "weekday" } as const),
  fc.constantFrom(...WEEKDAYS).map((weekday) => ({ every: "week", on: weekday }) as const),
  fc
    .constantFrom("2026-01-08", "2024-02-29", "2030-12-31")
    .map((from) => ({ every: "two-weeks", from }) as const),
  fc
    .constantFrom(1, 4, 15, 28, "last-day" as const, "last-business-day" as const)
    .map((day) => ({ every: "month", on: day }) as const),
);

/** Schedules of every form. */
export const anySchedule: fc.Arbitrary<PlaybookSchedule> = fc.record({
  days,
  at: fc.constantFrom("00:00", "02:30", "10:00", "23:59"),
  zone: fc.constantFrom(
    "America/New_York",
    "America/Los_Angeles",
    "Europe/Berlin",
    "Africa/Cairo",
    "Asia/Kolkata",
    "Asia/Tokyo",
    "Australia/Lord_Howe",
    "Pacific/Auckland",
  ),
  holidays: fc.constantFrom("business-day-before", "business-day-after", "skip"),
  catchUpDays: fc.constant(1),
});

/** Instants in the years for which schedules are compared with an independent calendar. */
export const anyInstantMs = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2040, 0, 1) });
