import { allForYear } from "@18f/us-federal-holidays";
import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import {
  addBankingDays,
  bankingDayOnOrBefore,
  isBankingDay,
  nextBankingDay,
} from "../../../src/domain/clock/bank-calendar.ts";
import { addDays, daysBetween, isDate, isoWeekday } from "../../../src/domain/clock/dates.ts";

const FIRST = "2024-01-01";
const LAST = "2040-12-31";
const date = fc
  .integer({ min: 0, max: daysBetween(FIRST, LAST) })
  .map((offset) => addDays(FIRST, offset));

/** The holidays of an independent calendar, read once for all years. */
const holidays = new Set<string>();
for (let year = 2024; year <= 2041; year++) {
  for (const holiday of allForYear(year, { shiftSaturdayHolidays: false })) {
    holidays.add(holiday.dateString);
  }
}

describe("the bank calendar", () => {
  it("the bank calendar agrees with an independent list of holidays on every day from 2024 to 2040", () => {
    const wrong: string[] = [];
    const normalised = new Set(
      [...holidays].map((text) =>
        text
          .split("-")
          .map((part) => part.padStart(2, "0"))
          .join("-"),
      ),
    );
    for (let day = FIRST; day <= LAST; day = addDays(day, 1)) {
      const open = isoWeekday(day) <= 5 && !normalised.has(day);
      if (isBankingDay(day) !== open) wrong.push(day);
    }
    expect(wrong).toEqual([]);
  });

  it("banks are open on the Friday before a Saturday holiday, and closed on the Monday after a Sunday one", () => {
    expect(isBankingDay("2026-07-03")).toBe(true);
    expect(isBankingDay("2027-07-05")).toBe(false);
    expect(isBankingDay("2026-11-26")).toBe(false);
  });

  it("banking days are counted over weekends and holidays, both ways", () => {
    expect(nextBankingDay("2026-11-25")).toBe("2026-11-27");
    expect(nextBankingDay("2026-12-24")).toBe("2026-12-28");
    expect(addBankingDays("2026-11-30", -2)).toBe("2026-11-25");
    expect(addBankingDays("2026-11-28", 0)).toBe("2026-11-28");
    expect(bankingDayOnOrBefore("2026-11-26")).toBe("2026-11-25");
    expect(bankingDayOnOrBefore("2026-11-25")).toBe("2026-11-25");
  });

  test.prop([date, fc.integer({ min: 1, max: 30 })])(
    "counting banking days there and back returns to the same day",
    (day, n) => {
      fc.pre(isBankingDay(day));
      expect(addBankingDays(addBankingDays(day, n), -n)).toBe(day);
    },
  );

  test.prop([date])("the next banking day is at most five days away", (day) => {
    const next = nextBankingDay(day);
    expect(isBankingDay(next)).toBe(true);
    expect(next > day).toBe(true);
    expect(daysBetween(day, next)).toBeLessThanOrEqual(5);
  });

  it("a text that only looks like a date is refused", () => {
    expect(isDate("2028-02-29")).toBe(true);
    expect(isDate("2026-02-29")).toBe(false);
    expect(isDate("2026-2-3")).toBe(false);
    expect(() => addDays("tomorrow", 1)).toThrow(RangeError);
  });
});
