import { counted } from "../domain/counted.ts";
import { WEEKDAYS, type SelectRule } from "../contracts/playbook.ts";
import { OWN_ROLES } from "../domain/approvals/token.ts";
import { isDate, isoWeekday } from "../domain/clock/dates.ts";
import { suggest } from "../domain/suggest.ts";
import { fine, readDays, readWord, shown, wrong } from "./texts.ts";
import type { TextReading } from "./texts.ts";

export const EVERY = ["day", "weekday", ...WEEKDAYS, "week", "two-weeks", "month"] as const;
export type Every = (typeof EVERY)[number];

/** Reads how often a schedule runs: a day of the week means every week. */
export function readEvery(input: unknown): TextReading<Every> {
  const every = EVERY.find((candidate) => candidate === input);
  if (every !== undefined) return fine(every);
  const expected = `one of ${EVERY.join(", ")}`;
  if (input === "saturday" || input === "sunday") {
    return wrong(`banks are closed on ${input}`, expected);
  }
  return wrong(`${shown(input)} is not a day`, expected, suggest(String(input), EVERY));
}

const MONTH_ENDS = ["last-day", "last-business-day"] as const;
export const ON = [...WEEKDAYS, ...MONTH_ENDS] as const;
export type On = (typeof ON)[number] | number;

/** Reads on which day of the week or the month a schedule runs. */
export function readOn(input: unknown): TextReading<On> {
  const on = ON.find((candidate) => candidate === input);
  if (on !== undefined) return fine(on);
  const expected =
    "a day of the week, a day of the month from 1 to 28, last-day or last-business-day";
  if (typeof input === "number" && Number.isInteger(input)) {
    if (input >= 1 && input <= 28) return fine(input);
    if (input <= 31 && input > 28) {
      return wrong(`not every month has a day ${input}`, expected, "last-day");
    }
  }
  const ordinal = /^(\d{1,2})(st|nd|rd|th)?$/.exec(String(input))?.[1];
  return wrong(`${shown(input)} is not a day`, expected, ordinal ?? suggest(String(input), ON));
}

/** Reads a date on which a run every two weeks begins. */
export function readScheduleStart(input: unknown): TextReading<string> {
  const expected = "a date YYYY-MM-DD that is a run itself, such as 2026-01-08";
  if (typeof input !== "string" || !isDate(input)) {
    return wrong(`${shown(input)} is not a date`, expected);
  }
  return isoWeekday(input) > 5 ? wrong(`${input} is on a weekend`, expected) : fine(input);
}

/** Reads which bills are due: `before-next-run`, `all`, `within 7 days`. */
export function readDue(input: unknown): TextReading<SelectRule> {
  if (input === "before-next-run" || input === "all") return fine({ due: input });
  const expected = "before-next-run, all, or a number of days such as within 7 days";
  const days = typeof input === "string" ? /^within (.*)$/.exec(input)?.[1] : undefined;
  if (days !== undefined) {
    const reading = readDays(days, { unit: "days", min: 0, max: 366, example: "7 days" });
    if (reading.ok) return fine({ due: "within", days: reading.value });
    const guess = reading.fault.didYouMean;
    return wrong(
      `${shown(input)} has no such number of days`,
      "within 0 to 366 days, such as within 7 days",
      guess === undefined ? undefined : `within ${guess}`,
    );
  }
  if (typeof input === "number")
    return wrong(`${shown(input)} has no unit`, expected, `within ${counted(input, "day")}`);
  const text = String(input);
  const guess = /^\d+ days?$/.test(text)
    ? `within ${text}`
    : suggest(text, ["before-next-run", "all"]);
  return wrong(`${shown(input)} does not say which bills are due`, expected, guess);
}

/** Reads an approver's role; Payrun's own roles are refused, since they approve nothing. */
export function readRole(input: unknown): TextReading<string> {
  if (typeof input === "string" && OWN_ROLES.includes(input)) {
    return wrong(
      `\`${input}\` is one of Payrun's own roles and approves nothing`,
      "a role of your own, such as controller or owner",
    );
  }
  return readWord(input, "a role", "controller");
}

/** Reads how many different people must approve. */
export function readQuorum(input: unknown): TextReading<number> {
  const expected = "a whole number from 1 to 10: how many different people must approve";
  if (typeof input !== "number" || !Number.isInteger(input)) {
    const digits = typeof input === "string" && /^\d+$/.test(input) ? input : undefined;
    return wrong(`${shown(input)} is not a number of people`, expected, digits);
  }
  if (input < 1) return wrong(`a quorum of ${input} asks nobody`, expected);
  if (input > 10) return wrong(`nobody can reach a quorum of ${input}`, expected);
  return fine(input);
}

/** Reads a business's name in the profiles file. */
export function readProfile(input: unknown): TextReading<string> {
  if (typeof input === "string" && /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(input))
    return fine(input);
  return wrong(
    `${shown(input)} is not a business`,
    "the name of one in the profiles file, such as acme",
  );
}

/** Reads `default` or the id of a funding source (API specification, section 2). */
export function readFundingSource(input: unknown): TextReading<string> {
  if (typeof input === "string" && /^\S{1,200}$/.test(input)) return fine(input);
  return wrong(
    `${shown(input)} is not a funding source`,
    "default, balance, or the id of a source",
  );
}

/** Reads `default` or the id of one of the business's own bank accounts. */
export function readBankAccount(input: unknown): TextReading<string> {
  if (typeof input !== "string" || !/^\S{1,200}$/.test(input)) {
    return wrong(`${shown(input)} is not a bank account`, "default, or the id of a bank account");
  }
  if (input !== "balance") return fine(input);
  return wrong("a deposit into the balance can't come from it", "a bank account", "default");
}

/** Reads the name of the playbook that handles failed payments. */
export function readFailurePlaybook(input: unknown): TextReading<string> {
  return readWord(input, "a retry-failed playbook", "retry-failed");
}
