import { WEEKDAYS, type ScheduleDays } from "../../contracts/playbook.ts";
import { bankingDayOnOrBefore, isBankingDay } from "./bank-calendar.ts";
import { addDays, daysBetween, isoWeekday } from "./dates.ts";

const FORTNIGHT_DAYS = 14;

/** True if a schedule names this date, before any holiday moves its run. */
export function isNominal(days: ScheduleDays, date: string): boolean {
  switch (days.every) {
    case "day":
      return true;
    case "weekday":
      // A run moved from a holiday would coincide with the previous day's, so holidays are left
      // out.
      return isBankingDay(date);
    case "week":
      return WEEKDAYS[isoWeekday(date) - 1] === days.on;
    case "two-weeks":
      return daysBetween(days.from, date) % FORTNIGHT_DAYS === 0;
    case "month":
      return date === dateInMonth(date.slice(0, 7), days.on);
  }
}

/** The nominal date in a month (`YYYY-MM`). */
function dateInMonth(month: string, on: number | "last-day" | "last-business-day"): string {
  if (typeof on === "number") return `${month}-${String(on).padStart(2, "0")}`;
  const last = lastDayOf(month);
  return on === "last-day" ? last : bankingDayOnOrBefore(last);
}

function lastDayOf(month: string): string {
  // Four days after the 28th is in the next month, in any month.
  return addDays(`${addDays(`${month}-28`, 4).slice(0, 7)}-01`, -1);
}
