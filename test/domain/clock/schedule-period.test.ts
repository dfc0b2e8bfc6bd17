import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { addBankingDays, nextBankingDay } from "../../../src/domain/clock/bank-calendar.ts";
import { newYorkDate, newYorkInstantMs } from "../../../src/domain/clock/new-york.ts";
import {
  beforeNextRun,
  fireOf,
  nextFire,
  nextPeriod,
  periodAt,
} from "../../../src/domain/clock/schedule-period.ts";
import { anyInstantMs, anySchedule, on, THURSDAYS } from "./schedules.ts";

const DAILY = on({ every: "weekday" });

describe("the periods of a schedule", () => {
  it("a launch belongs to the next nominal date, today included", () => {
    expect(periodAt(THURSDAYS, newYorkInstantMs("2026-11-17", "12:00"))).toBe("2026-11-19");
    expect(periodAt(THURSDAYS, newYorkInstantMs("2026-11-19", "23:59"))).toBe("2026-11-19");
    expect(periodAt(THURSDAYS, newYorkInstantMs("2026-11-20", "00:00"))).toBe("2026-11-26");
    expect(periodAt(null, newYorkInstantMs("2026-11-20", "00:00"))).toBe("2026-11-20");
  });

  it("a launch on a day to which a holiday moved a run belongs to that run", () => {
    const after = { ...THURSDAYS, holidays: "business-day-after" } as const;
    expect(periodAt(after, newYorkInstantMs("2026-11-26", "12:00"))).toBe("2026-11-26");
    expect(periodAt(after, newYorkInstantMs("2026-11-27", "09:00"))).toBe("2026-11-26");
    expect(periodAt(after, newYorkInstantMs("2026-11-28", "00:00"))).toBe("2026-12-03");
    expect(periodAt(THURSDAYS, newYorkInstantMs("2026-11-25", "09:00"))).toBe("2026-11-26");
  });

  test.prop([anySchedule, anyInstantMs])(
    "a period has the same name whether the clock or a person launches it",
    (schedule, ms) => {
      const { period, fireAtMs } = nextFire(schedule, ms);
      expect(periodAt(schedule, fireAtMs)).toBe(period);
    },
  );

  it("a run fires on the business day before if its nominal date is a bank holiday", () => {
    expect(fireOf(THURSDAYS, "2026-11-26")).toEqual({
      period: "2026-11-26",
      date: "2026-11-25",
      fireAtMs: newYorkInstantMs("2026-11-25", "10:00"),
    });
  });

  it("a weekday schedule skips a holiday instead of running twice the day before", () => {
    expect(nextPeriod(DAILY, "2026-11-25")).toBe("2026-11-27");
    expect(nextPeriod(DAILY, "2026-11-27")).toBe("2026-11-30");
  });

  it("the run after one that a holiday moved is found", () => {
    const fire = nextFire(THURSDAYS, newYorkInstantMs("2026-11-25", "10:00"));
    expect(fire).toEqual({
      period: "2026-12-03",
      date: "2026-12-03",
      fireAtMs: newYorkInstantMs("2026-12-03", "10:00"),
    });
  });

  test.prop([anySchedule, anyInstantMs])(
    "the next run always fires later, and no earlier one is skipped",
    (s, ms) => {
      const fire = nextFire(s, ms);
      expect(fire.fireAtMs).toBeGreaterThan(ms);
      const again = nextFire(s, fire.fireAtMs - 1);
      expect(again).toEqual(fire);
    },
  );
});

describe("bills that can't wait for the next run", () => {
  it("bills due before the next run's payments could arrive can't wait", () => {
    // Fires on 2026-11-25 (Thanksgiving moved it), executes on the 27th, arrives three banking days
    // later.
    expect(beforeNextRun(THURSDAYS, "2026-11-19", 3)).toBe("2026-12-02");
    expect(beforeNextRun(THURSDAYS, "2026-12-03", 1)).toBe("2026-12-14");
  });

  it("bills that can't wait are judged by the New York date on which the next run fires", () => {
    // Friday 02:30 in Kolkata is Thursday in New York; 20:00 in Honolulu is already the next day.
    const friday = on({ every: "week", on: "friday" }, { at: "02:30", zone: "Asia/Kolkata" });
    expect(beforeNextRun(friday, "2026-12-04", 3)).toBe("2026-12-16");
    const tuesday = { at: "20:00", zone: "Pacific/Honolulu" };
    const late = on({ every: "week", on: "tuesday" }, tuesday);
    expect(beforeNextRun(late, "2026-12-01", 3)).toBe("2026-12-15");
  });

  it("without a schedule, bills that can't wait are judged against a run a week later", () => {
    expect(beforeNextRun(null, "2026-12-01", 3)).toBe("2026-12-14");
  });

  test.prop([anySchedule, anyInstantMs, fc.integer({ min: 0, max: 5 })])(
    "bills that can't wait are exactly those that would arrive late",
    (s, ms, days) => {
      const period = periodAt(s, ms);
      const limit = beforeNextRun(s, period, days);
      expect(limit > period).toBe(true);
      const firesOn = newYorkDate(fireOf(s, nextPeriod(s, period)).fireAtMs);
      expect(limit).toBe(addBankingDays(nextBankingDay(firesOn), days));
    },
  );
});
