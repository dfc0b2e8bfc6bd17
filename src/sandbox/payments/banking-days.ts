import { Temporal } from "temporal-polyfill";

const zone = "America/New_York";
const hourMs = 3_600_000;
const memoLimit = 20_000;

const offsetByHour = new Map<number, number>();
const bankingDays = new Map<string, boolean>();
const settlements = new Map<string, number>();

/** Returns New York's date (`YYYY-MM-DD`) at an instant. */
export function newYorkDay(instantMs: number): string {
  // New York's offset only changes on a full hour, so one lookup per hour is exact.
  const hour = Math.floor(instantMs / hourMs);
  let offsetMs = offsetByHour.get(hour);
  if (offsetMs === undefined) {
    const zoned = Temporal.Instant.fromEpochMilliseconds(hour * hourMs).toZonedDateTimeISO(zone);
    offsetMs = zoned.offsetNanoseconds / 1e6;
    if (offsetByHour.size >= memoLimit) offsetByHour.clear();
    offsetByHour.set(hour, offsetMs);
  }
  return new Date(instantMs + offsetMs).toISOString().slice(0, 10);
}

/**
 * Returns the instant of a wall-clock time (`HH:MM`) in New York on a date, daylight saving
 * included.
 */
export function newYorkInstant(date: string, time: string): number {
  return Temporal.PlainDateTime.from(`${date}T${time}`).toZonedDateTime(zone).epochMilliseconds;
}

/**
 * Returns 8:30 AM New York, when the network settles, on the n-th banking day after the day of
 * `fromMs`.
 *
 * @param days 1 is the next banking day.
 */
export function settlementInstant(fromMs: number, days: number): number {
  // New York's date changes on a full hour of UTC.
  const key = `${Math.floor(fromMs / hourMs)} ${days}`;
  const known = settlements.get(key);
  if (known !== undefined) return known;
  const instant = findSettlementInstant(fromMs, days);
  if (settlements.size >= memoLimit) settlements.clear();
  settlements.set(key, instant);
  return instant;
}

function findSettlementInstant(fromMs: number, days: number): number {
  let date = Temporal.PlainDate.from(newYorkDay(fromMs));
  for (let left = days; left > 0;) {
    date = date.add({ days: 1 });
    if (isBankingDay(date)) left -= 1;
  }
  return newYorkInstant(date.toString(), "08:30");
}

/**
 * Returns when same-day ACH settles: 5:00 PM New York on a banking day if it is submitted before
 * 2:45 PM, otherwise with the next banking day's first settlement.
 */
export function sameDaySettlementInstant(fromMs: number): number {
  const date = newYorkDay(fromMs);
  const isInTime =
    isBankingDay(Temporal.PlainDate.from(date)) && fromMs < newYorkInstant(date, "14:45");
  return isInTime ? newYorkInstant(date, "17:00") : settlementInstant(fromMs, 1);
}

function isBankingDay(date: Temporal.PlainDate): boolean {
  const key = date.toString();
  let answer = bankingDays.get(key);
  if (answer === undefined) {
    answer = date.dayOfWeek <= 5 && !isFederalReserveHoliday(date);
    if (bankingDays.size >= memoLimit) bankingDays.clear();
    bankingDays.set(key, answer);
  }
  return answer;
}

function isFederalReserveHoliday(date: Temporal.PlainDate): boolean {
  if (isFixedHoliday(date)) return true;
  // A holiday on a Sunday closes the Monday after it; for one on a Saturday, the Friday stays open.
  if (date.dayOfWeek === 1 && isFixedHoliday(date.subtract({ days: 1 }))) return true;
  return isFloatingHoliday(date);
}

function isFixedHoliday(date: Temporal.PlainDate): boolean {
  const day = date.toString().slice(5);
  if (day === "06-19") return date.year >= 2022;
  return day === "01-01" || day === "07-04" || day === "11-11" || day === "12-25";
}

function isFloatingHoliday(date: Temporal.PlainDate): boolean {
  const week = Math.ceil(date.day / 7);
  const isMonday = date.dayOfWeek === 1;
  switch (date.month) {
    case 1:
    case 2:
      return isMonday && week === 3;
    case 5:
      return isMonday && date.day > 24;
    case 9:
      return isMonday && week === 1;
    case 10:
      return isMonday && week === 2;
    case 11:
      return date.dayOfWeek === 4 && week === 4;
    default:
      return false;
  }
}
