import type { PlaybookSchedule } from "../../contracts/playbook.ts";
import {
  addBankingDays,
  bankingDayOnOrBefore,
  isBankingDay,
  nextBankingDay,
} from "./bank-calendar.ts";
import { addDays, isoWeekday } from "./dates.ts";
import { NEW_YORK, zonedDate, zonedInstantMs } from "./new-york.ts";

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday"] as const;

/** Days to the next run that is assumed where a playbook has no schedule. */
const UNSCHEDULED_INTERVAL_DAYS = 7;

export interface ScheduledFire {
  /** The nominal date, `YYYY-MM-DD` in the schedule's zone: the run's period. */
  readonly period: string;
  /** The instant it fires: on a bank holiday, at the same time of the business day before. */
  readonly fireAtMs: number;
}

/**
 * The period that a launch at this instant belongs to: the first nominal date that is today or
 * later in the schedule's zone; without a schedule, today in New York.
 */
export function periodAt(schedule: PlaybookSchedule | null, nowMs: number): string {
  if (schedule === null) return zonedDate(nowMs, NEW_YORK);
  const today = zonedDate(nowMs, schedule.zone);
  return isNominal(schedule, today) ? today : nextPeriod(schedule, today);
}

/** When the run of a period fires. */
export function fireOf(schedule: PlaybookSchedule, period: string): ScheduledFire {
  const date = bankingDayOnOrBefore(period);
  return { period, fireAtMs: zonedInstantMs(date, schedule.at, schedule.zone) };
}

/** The next run that fires after an instant. */
export function nextFire(schedule: PlaybookSchedule, afterMs: number): ScheduledFire {
  // A holiday moves a run to an earlier day, so the period to look at may be some days ahead.
  let period = periodAt(schedule, afterMs);
  let fire = fireOf(schedule, period);
  while (fire.fireAtMs <= afterMs) {
    period = nextPeriod(schedule, period);
    fire = fireOf(schedule, period);
  }
  return fire;
}

/** The nominal date that follows a date. */
export function nextPeriod(schedule: PlaybookSchedule, date: string): string {
  let day = addDays(date, 1);
  while (!isNominal(schedule, day)) day = addDays(day, 1);
  return day;
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
  const next =
    schedule === null ? addDays(period, UNSCHEDULED_INTERVAL_DAYS) : nextPeriod(schedule, period);
  const firesOn = bankingDayOnOrBefore(next);
  return addBankingDays(nextBankingDay(firesOn), arrivalBusinessDays);
}

function isNominal(schedule: PlaybookSchedule, date: string): boolean {
  const weekday = isoWeekday(date);
  // A daily run on a holiday would meet the run of the day before: it is left out, not moved.
  if (schedule.every === "weekday") return weekday <= 5 && isBankingDay(date);
  return WEEKDAYS[weekday - 1] === schedule.every;
}
