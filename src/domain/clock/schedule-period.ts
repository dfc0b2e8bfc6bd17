import { type PlaybookSchedule, WEEKDAYS, type ScheduleDays } from "../../contracts/playbook.ts";
import {
  addBankingDays,
  isBankingDay,
  nextBankingDay,
  bankingDayOnOrBefore,
} from "./bank-calendar.ts";
import { addDays, daysBetween, isoWeekday } from "./dates.ts";
import { NEW_YORK, newYorkDate, zonedDate, zonedInstantMs } from "./new-york.ts";

const FORTNIGHT_DAYS = 14;

/** True if a schedule names this date, before any holiday moves its run. */
function isNominal(days: ScheduleDays, date: string): boolean {
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

/** Returns the nominal date in a month (`YYYY-MM`). */
function dateInMonth(month: string, on: number | "last-day" | "last-business-day"): string {
  if (typeof on === "number") return `${month}-${String(on).padStart(2, "0")}`;
  const last = lastDayOf(month);
  return on === "last-day" ? last : bankingDayOnOrBefore(last);
}

function lastDayOf(month: string): string {
  // Four days after the 28th is in the next month, in any month.
  return addDays(`${addDays(`${month}-28`, 4).slice(0, 7)}-01`, -1);
}

/** Assumed days to the next run of a playbook without a schedule. */
const UNSCHEDULED_INTERVAL_DAYS = 7;

/** The furthest that holidays move a run. */
const LONGEST_MOVE_DAYS = 7;
/** A monthly run can be skipped several times in a row, if its date is not a banking day. */
const LONGEST_GAP_DAYS = 400;

export interface ScheduledFire {
  /** The nominal date, `YYYY-MM-DD` in the schedule's zone: the run's period. */
  readonly period: string;
  /** The date on which it begins; a bank holiday may have moved it. */
  readonly date: string;
  readonly fireAtMs: number;
}

/**
 * Returns the period that a launch at this instant belongs to: the one whose run begins today in
 * the schedule's zone, otherwise the next nominal date from today on. Without a schedule, it is
 * today in New York.
 */
export function periodAt(schedule: PlaybookSchedule | null, nowMs: number): string {
  if (schedule === null) return zonedDate(nowMs, NEW_YORK);
  const today = zonedDate(nowMs, schedule.zone);
  return periodBeginningOn(schedule, today) ?? nextPeriod(schedule, addDays(today, -1));
}

/**
 * Returns when a period's run begins: the schedule's time on the date to which holidays moved it.
 */
export function fireOf(schedule: PlaybookSchedule, period: string): ScheduledFire {
  const date = beginsOn(schedule, period);
  return { period, date, fireAtMs: zonedInstantMs(date, schedule.at, schedule.zone) };
}

/** Returns how late a run may begin, as the playbook writes it: `catchUp: 1 day`. */
export function catchUpText({ catchUpDays }: PlaybookSchedule): string {
  return `catchUp: ${catchUpDays} day${catchUpDays === 1 ? "" : "s"}`;
}

/**
 * Returns the first date on which a run that fires at this instant can pay. Banks count from its
 * New York date.
 */
export function firstPayDate(fireAtMs: number): string {
  return nextBankingDay(newYorkDate(fireAtMs));
}

/** Returns the next run that fires after an instant. */
export function nextFire(schedule: PlaybookSchedule, afterMs: number): ScheduledFire {
  // A run may have been moved to a later day, so the search starts some days earlier.
  let period = addDays(zonedDate(afterMs, schedule.zone), -LONGEST_MOVE_DAYS);
  let fire: ScheduledFire;
  do {
    period = nextPeriod(schedule, period);
    fire = fireOf(schedule, period);
  } while (fire.fireAtMs <= afterMs);
  return fire;
}

/** Returns the runs that fire after an instant, up to and including another, in order. */
export function firesBetween(
  schedule: PlaybookSchedule,
  afterMs: number,
  untilMs: number,
): ScheduledFire[] {
  const fires: ScheduledFire[] = [];
  for (let fire = nextFire(schedule, afterMs); fire.fireAtMs <= untilMs;) {
    fires.push(fire);
    fire = nextFire(schedule, fire.fireAtMs);
  }
  return fires;
}

/** Returns the next runs that fire after an instant, in order. */
export function nextFires(
  schedule: PlaybookSchedule,
  afterMs: number,
  count: number,
): ScheduledFire[] {
  const fires: ScheduledFire[] = [];
  for (let ms = afterMs; fires.length < count;) {
    const fire = nextFire(schedule, ms);
    fires.push(fire);
    ms = fire.fireAtMs;
  }
  return fires;
}

/** Returns the period whose run begins on a date; null if none does. */
export function periodBeginningOn(schedule: PlaybookSchedule, date: string): string | null {
  for (let away = -LONGEST_MOVE_DAYS; away <= LONGEST_MOVE_DAYS; away += 1) {
    const period = addDays(date, away);
    if (hasRun(schedule, period) && beginsOn(schedule, period) === date) return period;
  }
  return null;
}

/** Returns the nominal date that follows a date. */
export function nextPeriod(schedule: PlaybookSchedule, date: string): string {
  for (let day = addDays(date, 1), left = LONGEST_GAP_DAYS; left > 0; left -= 1) {
    if (hasRun(schedule, day)) return day;
    day = addDays(day, 1);
  }
  throw new RangeError(`a schedule without a run in the ${LONGEST_GAP_DAYS} days after ${date}`);
}

/**
 * Returns the first due date that can wait for the run after `period` (`select: before-next-run`).
 *
 * A bill due earlier would be paid late if it waited: the next run's payments execute on the
 * banking day after it fires, at the earliest, and arrive `arrivalBusinessDays` later. Without a
 * schedule, the next run is assumed to be a week later.
 *
 * @returns an exclusive limit: select earlier due dates
 */
export function beforeNextRun(
  schedule: PlaybookSchedule | null,
  period: string,
  arrivalBusinessDays: number,
): string {
  const firesOn =
    schedule === null
      ? addDays(period, UNSCHEDULED_INTERVAL_DAYS)
      : newYorkDate(fireOf(schedule, nextPeriod(schedule, period)).fireAtMs);
  return addBankingDays(nextBankingDay(firesOn), arrivalBusinessDays);
}

/** True if a date is nominal and its run is not skipped. */
export function hasRun(schedule: PlaybookSchedule, date: string): boolean {
  if (!isNominal(schedule.days, date)) return false;
  return schedule.holidays !== "skip" || mayBeHoliday(schedule) || isBankingDay(date);
}

/** Returns the date on which a period's run begins, after holidays have moved it. */
export function beginsOn(schedule: PlaybookSchedule, period: string): string {
  if (mayBeHoliday(schedule) || isBankingDay(period)) return period;
  return addBankingDays(period, schedule.holidays === "business-day-after" ? 1 : -1);
}

/** A daily run has no other day to move to, so it begins on holidays too. */
function mayBeHoliday({ days }: PlaybookSchedule): boolean {
  return days.every === "day";
}
