import type {
  CalendarSpec,
  CalendarSpecDescription,
  ScheduleDescription,
  ScheduleOptions,
  ScheduleOptionsAction,
} from "@temporalio/client";

/** A launcher's schedule as it is stored at Temporal. */
export interface LauncherOptions extends ScheduleOptions {
  readonly spec: { readonly calendars: CalendarSpec[]; readonly timezone: string };
  readonly action: ScheduleOptionsAction & { readonly args: unknown[]; readonly taskQueue: string };
  readonly policies: { readonly overlap: "ALLOW_ALL"; readonly catchupWindow: number };
}

/** True if Temporal keeps a schedule as it was stored, with no change in the UI meanwhile. */
export function isInStep(kept: ScheduleDescription, wanted: LauncherOptions): boolean {
  return (
    JSON.stringify([factsOf(kept), timesOf(kept)]) ===
    JSON.stringify([
      {
        workflowType: wanted.action.workflowType,
        taskQueue: wanted.action.taskQueue,
        args: wanted.action.args,
        overlap: wanted.policies.overlap,
        catchupWindow: wanted.policies.catchupWindow,
        timezone: wanted.spec.timezone,
        others: 0,
        limits: [],
      },
      wanted.spec.calendars.map(wantedTimes).toSorted(),
    ])
  );
}

function factsOf({ action, policies, spec, raw }: ScheduleDescription): object {
  const { startAt, endAt, intervals = [], skip = [] } = spec;
  const limits = [startAt, endAt, raw.schedule?.state?.limitedActions === true ? 1 : undefined];
  return {
    workflowType: action.workflowType,
    taskQueue: action.taskQueue,
    args: action.args,
    overlap: policies.overlap,
    catchupWindow: policies.catchupWindow,
    timezone: spec.timezone,
    others: intervals.length + skip.length,
    limits: limits.filter((limit) => limit !== undefined),
  };
}

function timesOf({ spec }: ScheduleDescription): string[] {
  return (spec.calendars ?? []).map(keptTimes).toSorted();
}

const WEEK = ["SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"];
const YEAR = ["JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST"].concat([
  "SEPTEMBER",
  "OCTOBER",
  "NOVEMBER",
  "DECEMBER",
]);
const MONTH_DAYS = Array.from({ length: 31 }, (_, day) => day + 1);

function wantedTimes({ hour, minute, dayOfWeek, dayOfMonth }: CalendarSpec): string {
  return JSON.stringify({
    seconds: [0],
    minutes: [minute ?? 0],
    hours: [hour ?? 0],
    daysOfMonth: [dayOfMonth ?? MONTH_DAYS].flat(),
    months: YEAR.map((_, at) => at),
    daysOfWeek: dayOfWeek === undefined ? [0, 1, 2, 3, 4, 5, 6] : sorted([dayOfWeek].flat()),
    years: [],
  });
}

/** Order of the week, by index in {@link WEEK}. */
function sorted(days: readonly unknown[]): number[] {
  return days.map((day) => WEEK.indexOf(String(day))).toSorted((one, other) => one - other);
}

function keptTimes(calendar: CalendarSpecDescription): string {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek, year } = calendar;
  return JSON.stringify({
    seconds: expanded(second),
    minutes: expanded(minute),
    hours: expanded(hour),
    daysOfMonth: expanded(dayOfMonth),
    months: expanded(month, YEAR),
    daysOfWeek: expanded(dayOfWeek, WEEK),
    years: expanded(year),
  });
}

interface Range {
  readonly start: number | string;
  readonly end: number | string;
  readonly step: number;
}

/** Returns the numbers that ranges stand for, each once and in order. */
function expanded(ranges: readonly Range[] | undefined, names: readonly string[] = []): number[] {
  const numberOf = (value: number | string): number =>
    typeof value === "number" ? value : names.indexOf(value);
  const all = new Set<number>();
  for (const { start, end, step } of ranges ?? []) {
    for (let at = numberOf(start); at <= numberOf(end); at += Math.max(1, step)) all.add(at);
  }
  return [...all].toSorted((one, other) => one - other);
}
