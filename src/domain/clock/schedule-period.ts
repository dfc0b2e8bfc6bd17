import type { PlaybookSchedule } from "../../contracts/playbook.ts";
import { addBankingDays, isBankingDay, nextBankingDay } from "./bank-calendar.ts";
import { addDays } from "./dates.ts";
import { NEW_YORK, newYorkDate, zonedDate, zonedInstantMs } from "./new-york.ts";
import { isNominal } from "./schedule-days.ts";

/** Days to the next run that is assumed where a playbook has no schedule. */
const UNSCHEDULED_INTERVAL_DAYS = 7;

/** No holiday moves a run further than this. */
const LONGEST_MOVE_DAYS = 7;
/** The first of a month can be no banking day for months on end, and be skipped each time. */
const LONGEST_GAP_DAYS = 400;

export interface ScheduledFire {
  /** The nominal date, `YYYY-MM-DD` in the schedule's zone: the run's period. */
  readonly period: string;
  /** The date on which it begins, which a bank holiday may have moved. */
  readonly date: string;
  readonly fireAtMs: number;
}

/**
 * The period that a launch at this instant belongs to: the one whose run begins today in the
 * schedule's zone, else the first nominal date that is today or later; without a schedule, today
 * in New York.
 */
export function periodAt(schedule: PlaybookSchedule | null, nowMs: number): string {
  if (schedule === null) return zonedDate(nowMs, NEW_YORK);
  const today = zonedDate(nowMs, schedule.zone);
  return periodBeginningOn(schedule, today) ?? nextPeriod(schedule, addDays(today, -1));
}

/** When the run of a period begins, at the schedule's time of the day it was moved to. */
export function fireOf(schedule: PlaybookSchedule, period: string): ScheduledFire {
  const date = beginsOn(schedule, period);
  return { period, date, fireAtMs: zonedInstantMs(date, schedule.at, schedule.zone) };
}

/** How late a run may begin, as a playbook's author writes it: `catchUp: 1 day`. */
export function catchUpText({ catchUpDays }: PlaybookSchedule): string {
  return `catchUp: ${catchUpDays} day${catchUpDays === 1 ? "" : "s"}`;
}

/** The first day on which a run that begins then can pay: banks count from the day that it is in New York. */
export function firstPayDate(fireAtMs: number): string {
  return nextBankingDay(newYorkDate(fireAtMs));
}

/** The next run that fires after an instant. */
export function nextFire(schedule: PlaybookSchedule, afterMs: number): ScheduledFire {
  // A run may have been moved to a later day, so the period to look at may be some days back.
  let period = addDays(zonedDate(afterMs, schedule.zone), -LONGEST_MOVE_DAYS);
  let fire: ScheduledFire;
  do {
    period = nextPeriod(schedule, period);
    fire = fireOf(schedule, period);
  } while (fire.fireAtMs <= afterMs);
  return fire;
}

/** The next runs that fire after an instant, in order. */
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

/** The period whose run begins on a date, or null where none does. */
export function periodBeginningOn(schedule: PlaybookSchedule, date: string): string | null {
  for (let away = -LONGEST_MOVE_DAYS; away <= LONGEST_MOVE_DAYS; away += 1) {
    const period = addDays(date, away);
    if (hasRun(schedule, period) && beginsOn(schedule, period) === date) return period;
  }
  return null;
}

/** The nominal date that follows a date. */
export function nextPeriod(schedule: PlaybookSchedule, date: string): string {
  for (let day = addDays(date, 1), left = LONGEST_GAP_DAYS; left > 0; left -= 1) {
    if (hasRun(schedule, day)) return day;
    day = addDays(day, 1);
  }
  throw new RangeError(`a schedule without a run in the ${LONGEST_GAP_DAYS} days after ${date}`);
}

/**
 * The first due date that can wait for the run after `period` (`select: before-next-run`).
 *
 * A bill due before it would arrive late if it waited: the next run's payments execute on the
 * banking day after it fires, at the earliest, and arrive `arrivalBusinessDays` later. Without a
 * schedule the next run is taken to be a week later.
 *
 * @returns an exclusive limit: select due dates that are earlier
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

/** Whether a date is a nominal one whose run is not left out. */
function hasRun(schedule: PlaybookSchedule, date: string): boolean {
  if (!isNominal(schedule.days, date)) return false;
  return schedule.holidays !== "skip" || mayBeHoliday(schedule) || isBankingDay(date);
}

/** The date on which the run of a period begins, wherever a bank holiday has moved it. */
export function beginsOn(schedule: PlaybookSchedule, period: string): string {
  if (mayBeHoliday(schedule) || isBankingDay(period)) return period;
  return addBankingDays(period, schedule.holidays === "business-day-after" ? 1 : -1);
}

/** A run of every day has no other day to go to: it begins on holidays as well. */
function mayBeHoliday({ days }: PlaybookSchedule): boolean {
  return days.every === "day";
}
