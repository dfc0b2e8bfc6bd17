import type { z } from "zod";
import {
  WEEKDAYS,
  type PlaybookSchedule,
  type ScheduleDays,
  type Weekday,
} from "../contracts/playbook.ts";
import type { schedule } from "./blocks.ts";
import type { Issue } from "./source.ts";

type ScheduleInput = z.output<typeof schedule>;

/** Compiles a schedule that has passed {@link checkSchedule}. */
export function compileSchedule(input: ScheduleInput | undefined): PlaybookSchedule | null {
  if (input === undefined) return null;
  return {
    days: daysOf(input),
    at: input.at,
    zone: input.zone,
    holidays: input.holidays,
    catchUpDays: input.catchUp,
    ...(input.mode === "plan-only" ? { mode: input.mode } : {}),
  };
}

function daysOf({ every, on, from }: ScheduleInput): ScheduleDays {
  if (every === "day" || every === "weekday") return { every };
  if (every === "two-weeks") return { every, from: from ?? "" };
  if (every === "month") return { every, on: isWeekday(on) || on === undefined ? 1 : on };
  return { every: "week", on: isWeekday(every) ? every : isWeekday(on) ? on : "monday" };
}

function isWeekday(value: unknown): value is Weekday {
  return WEEKDAYS.some((weekday) => weekday === value);
}

/** Finds mistakes between the keys of a schedule: missing ones and ones that exclude each other. */
export function checkSchedule(written: unknown): Issue[] {
  if (typeof written !== "object" || written === null || Array.isArray(written)) return [];
  const has = (key: string): boolean => key in written;
  const every = "every" in written ? written.every : undefined;
  const on = "on" in written ? written.on : undefined;
  const issues: Issue[] = [];
  const complain = (key: string, message: string, expected: string): void => {
    issues.push({
      path: ["schedule", key],
      anchor: key === "every" ? "value" : "key",
      message,
      expected,
    });
  };
  if (
    every === "week" &&
    (!has("on") || typeof on === "number" || String(on).startsWith("last-"))
  ) {
    complain(
      has("on") ? "on" : "every",
      "`every: week` needs a day of the week",
      "such as `on: thursday`, or `every: thursday` alone",
    );
  }
  if (every === "month" && (!has("on") || isWeekday(on))) {
    complain(
      has("on") ? "on" : "every",
      "`every: month` needs a day of the month",
      "such as `on: 15`, `on: last-day` or `on: last-business-day`",
    );
  }
  if (every === "two-weeks" && !has("from")) {
    complain(
      "every",
      "`every: two-weeks` does not say which weeks",
      "a date that is a run itself, such as `from: 2026-01-08`",
    );
  }
  if (has("on") && every !== "week" && every !== "month") {
    complain(
      "on",
      "`on` goes with `every: week` or `every: month` only",
      "the day in `every`, or no `on`",
    );
  }
  if (has("from") && every !== "two-weeks") {
    complain("from", "`from` goes with `every: two-weeks` only", "no `from`");
  }
  if (has("holidays") && (every === "day" || every === "weekday")) {
    complain(
      "holidays",
      `\`holidays\` does nothing with \`every: ${every}\`: a run that is moved would meet another`,
      every === "day"
        ? "no `holidays`: every day runs"
        : "no `holidays`: bank holidays are left out",
    );
  }
  return issues;
}
