import { SystemAuthor } from "../../contracts/authors.ts";
import { WEEKDAYS, type PlaybookSchedule, type Weekday } from "../../contracts/playbook.ts";
import { addDays, dateOfUtcMs, isoWeekday } from "./dates.ts";
import { zonedInstantMs, zonedWallTime } from "./new-york.ts";
import { beginsOn, nextPeriod } from "./schedule-period.ts";

/** Weekdays and bank holidays repeat on the same dates every 28 years, until 2099. */
const CYCLE_YEARS = 28;
const CYCLE_FROM = "2024-01-01";
/** A zone that changes its clocks does so at least once in this many days. */
const YEAR_DAYS = 366;

/**
 * The times at which Temporal must wake the launcher so that no run of a schedule is missed.
 *
 * Temporal's calendars know neither bank holidays nor two-week periods. They wake the launcher on
 * every day on which a run can begin in any year, and the launcher checks whether one does. So a
 * stored schedule stays right forever.
 */
export interface Triggers {
  /** Days of the week, or null for all. */
  readonly weekdays: readonly (Weekday | "saturday" | "sunday")[] | null;
  /** Days of the month, or null for all. */
  readonly daysOfMonth: readonly number[] | null;
  /**
   * `HH:MM` in the zone; a second time if the first doesn't exist on the day on which clocks
   * change.
   */
  readonly times: readonly string[];
  readonly zone: string;
}

/** Returns the launcher of the runs that a playbook's schedule begins. */
export function launchedBySchedule(playbook: string): SystemAuthor {
  return new SystemAuthor(`schedule of ${playbook}`);
}

/**
 * Returns what Temporal stores of a playbook's schedule: when to wake its launcher, and with what
 * input.
 */
export function launcherOf(
  of: {
    readonly playbook: string;
    readonly business: string;
    readonly schedule: PlaybookSchedule;
  },
  nowMs: number,
) {
  const { playbook, business, schedule } = of;
  const { catchUpDays } = schedule;
  return { ...triggersOf(schedule, nowMs), playbook, business, catchUpDays };
}

/** Returns the triggers of a schedule. */
export function triggersOf(schedule: PlaybookSchedule, nowMs: number): Triggers {
  const { days, zone } = schedule;
  const times = timesOf(schedule, nowMs);
  if (days.every === "day") return { weekdays: null, daysOfMonth: null, times, zone };
  const dates = datesOfCycle(schedule);
  if (days.every === "month") {
    const found = new Set(dates.map((date) => Number(date.slice(8))));
    return { weekdays: null, daysOfMonth: [...found].sort((a, b) => a - b), times, zone };
  }
  const found = new Set(dates.map((date) => isoWeekday(date)));
  const all = [...WEEKDAYS, "saturday", "sunday"] as const;
  return { weekdays: all.filter((_, at) => found.has(at + 1)), daysOfMonth: null, times, zone };
}

/** Returns every date on which a run begins, in a whole cycle of the calendar. */
function datesOfCycle(schedule: PlaybookSchedule): string[] {
  const end = `${Number(CYCLE_FROM.slice(0, 4)) + CYCLE_YEARS}${CYCLE_FROM.slice(4)}`;
  const dates: string[] = [];
  for (let period = nextPeriod(schedule, CYCLE_FROM); period < end;) {
    dates.push(beginsOn(schedule, period));
    period = nextPeriod(schedule, period);
  }
  return dates;
}

function timesOf({ at, zone }: PlaybookSchedule, nowMs: number): string[] {
  const times = new Set([at]);
  const today = dateOfUtcMs(nowMs);
  for (let ahead = 0; ahead < YEAR_DAYS; ahead += 1) {
    times.add(zonedWallTime(zonedInstantMs(addDays(today, ahead), at, zone), zone));
  }
  return [...times];
}
