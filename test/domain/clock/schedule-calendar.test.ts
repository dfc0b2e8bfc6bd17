import { allForYear } from "@18f/us-federal-holidays";
import { test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import type { PlaybookSchedule, ScheduleDays } from "../../../src/contracts/playbook.ts";
import { addDays } from "../../../src/domain/clock/dates.ts";
import {
  fireOf,
  nextFire,
  nextFires,
  periodBeginningOn,
} from "../../../src/domain/clock/schedule-period.ts";
import { triggersOf } from "../../../src/domain/clock/schedule-triggers.ts";
import { anyInstantMs, anySchedule, on } from "./schedules.ts";

/** A calendar that shares no code with ours: the platform's dates and a list of holidays. */
const closed = new Set<string>();
for (let year = 2023; year <= 2042; year += 1) {
  for (const { date } of allForYear(year, { shiftSaturdayHolidays: false })) {
    closed.add(date.toISOString().slice(0, 10));
  }
}
function weekday(date: string): number {
  return new Date(`${date}T12:00:00Z`).getUTCDay();
}
function isOpen(date: string): boolean {
  return weekday(date) !== 0 && weekday(date) !== 6 && !closed.has(date);
}
function shift(date: string, step: 1 | -1): string {
  const at = new Date(`${date}T12:00:00Z`);
  do at.setUTCDate(at.getUTCDate() + step);
  while (!isOpen(at.toISOString().slice(0, 10)));
  return at.toISOString().slice(0, 10);
}
function isLastOfMonth(date: string): boolean {
  const at = new Date(`${date}T12:00:00Z`);
  return new Date(at.getTime() + 86_400_000).getUTCDate() === 1;
}
function isLastOpenOfMonth(date: string): boolean {
  if (!isOpen(date)) return false;
  return shift(date, 1).slice(0, 7) !== date.slice(0, 7);
}

const DAYS: readonly [string, ScheduleDays, (date: string) => boolean][] = [
  ["every day", { every: "day" }, () => true],
  ["every weekday", { every: "weekday" }, isOpen],
  ["every Monday", { every: "week", on: "monday" }, (date) => weekday(date) === 1],
  ["every Thursday", { every: "week", on: "thursday" }, (date) => weekday(date) === 4],
  [
    "every two weeks",
    { every: "two-weeks", from: "2026-01-08" },
    (date) =>
      weekday(date) === 4 &&
      Math.round((Date.parse(date) - Date.parse("2026-01-08")) / 604_800_000) % 2 === 0,
  ],
  ["the 1st", { every: "month", on: 1 }, (date) => date.endsWith("-01")],
  ["the 28th", { every: "month", on: 28 }, (date) => date.endsWith("-28")],
  ["the last day", { every: "month", on: "last-day" }, isLastOfMonth],
  ["the last business day", { every: "month", on: "last-business-day" }, isLastOpenOfMonth],
];
const HOLIDAYS = ["business-day-before", "business-day-after", "skip"] as const;

/** Returns the runs that begin from 2024 to 2040 by the independent calendar: date and period. */
function expected(
  days: ScheduleDays,
  isNominal: (date: string) => boolean,
  holidays: PlaybookSchedule["holidays"],
): string[] {
  const runs: string[] = [];
  for (let date = "2023-12-20"; date < "2041-01-10"; date = addDays(date, 1)) {
    if (!isNominal(date)) continue;
    const stays = days.every === "day" || isOpen(date);
    if (!stays && holidays === "skip") continue;
    const begins = stays ? date : shift(date, holidays === "business-day-after" ? 1 : -1);
    if (begins >= "2024-01-01" && begins <= "2040-12-31") runs.push(`${begins} for ${date}`);
  }
  return runs;
}

describe("a schedule from 2024 to 2040", () => {
  it.each(DAYS.flatMap((row) => HOLIDAYS.map((holidays) => [...row, holidays] as const)))(
    "a schedule for %s begins its runs when an independent calendar says",
    (_, days, isNominal, holidays) => {
      const schedule = on(days, { holidays, zone: "UTC", at: "12:00" });
      const runs: string[] = [];
      let fire = nextFire(schedule, Date.UTC(2024, 0, 1));
      while (fire.date <= "2040-12-31") {
        runs.push(`${fire.date} for ${fire.period}`);
        fire = nextFire(schedule, fire.fireAtMs);
      }
      expect(runs).toEqual(expected(days, isNominal, holidays));
    },
  );

  test.prop([anySchedule, anyInstantMs], { numRuns: 40 })(
    "a run begins on the date on which its launcher looks for it, at the schedule's time",
    (schedule, ms) => {
      const fire = nextFire(schedule, ms);
      expect(periodBeginningOn(schedule, fire.date)).toBe(fire.period);
      const wall = new Date(fire.fireAtMs).toLocaleString("sv-SE", { timeZone: schedule.zone });
      expect(wall.slice(0, 10)).toBe(fire.date);
      const { times } = triggersOf(schedule, fire.fireAtMs - 3_600_000);
      expect(times).toContain(wall.slice(11, 16));
    },
  );

  test.prop([anySchedule, anyInstantMs], { numRuns: 30 })(
    "a run never begins on a day on which nothing wakes its launcher",
    (schedule, ms) => {
      const { weekdays, daysOfMonth } = triggersOf(schedule, ms);
      const names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
      for (const { date } of nextFires(schedule, ms, 20)) {
        if (weekdays !== null) expect(weekdays).toContain(names[weekday(date)]);
        if (daysOfMonth !== null) expect(daysOfMonth).toContain(Number(date.slice(8)));
      }
    },
  );

  it("a schedule keeps its time of day with and without daylight saving", () => {
    const schedule = on({ every: "week", on: "friday" });
    const fires = ["2026-03-06", "2026-03-13", "2026-10-30", "2026-11-06"].map((period) =>
      new Date(fireOf(schedule, period).fireAtMs).toISOString().slice(11, 16),
    );
    expect(fires).toEqual(["15:00", "14:00", "14:00", "15:00"]);
  });

  it("a launcher also wakes an hour later if the schedule's time does not exist on one day of the year", () => {
    const daily = on({ every: "day" }, { at: "02:30" });
    expect(triggersOf(daily, Date.UTC(2026, 0, 1)).times).toEqual(["02:30", "03:30"]);
    expect(triggersOf(on({ every: "day" }), Date.UTC(2026, 0, 1)).times).toEqual(["10:00"]);
  });

  it.each(HOLIDAYS)(
    "a monthly schedule never begins two runs on one date with the holiday rule %s",
    (holidays) => {
      const seen = new Set<string>();
      const schedule = on({ every: "month", on: 1 }, { holidays });
      for (const { date } of nextFires(schedule, Date.UTC(2024, 0, 1), 120)) {
        expect(seen.has(date)).toBe(false);
        seen.add(date);
      }
    },
  );
});
