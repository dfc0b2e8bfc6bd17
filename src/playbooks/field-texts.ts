import type { SelectRule } from "../contracts/playbook.ts";
import { suggest } from "./suggest.ts";
import { fine, readDays, readWord, shown, wrong } from "./texts.ts";
import type { Reading } from "./texts.ts";

export const WEEKDAYS = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "weekday",
] as const;
type Every = (typeof WEEKDAYS)[number];

/** Reads the day of a schedule. */
export function readEvery(input: unknown): Reading<Every> {
  const day = WEEKDAYS.find((candidate) => candidate === input);
  if (day !== undefined) return fine(day);
  const expected = `one of ${WEEKDAYS.join(", ")}`;
  if (input === "saturday" || input === "sunday") {
    return wrong(`banks are closed on ${input}`, expected);
  }
  return wrong(`${shown(input)} is not a day`, expected, suggest(String(input), WEEKDAYS));
}

/** Reads which bills are due: `before-next-run`, `all`, `within 7 days`. */
export function readDue(input: unknown): Reading<SelectRule> {
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
    return wrong(`${shown(input)} has no unit`, expected, `within ${input} days`);
  const text = String(input);
  const guess = /^\d+ days?$/.test(text)
    ? `within ${text}`
    : suggest(text, ["before-next-run", "all"]);
  return wrong(`${shown(input)} does not say which bills are due`, expected, guess);
}

const RESERVED_ROLES = ["admin", "viewer", "launcher", "operator"];

/** Reads an approver's role; Payrun's own roles are refused, since they approve nothing. */
export function readRole(input: unknown): Reading<string> {
  if (typeof input === "string" && RESERVED_ROLES.includes(input)) {
    return wrong(
      `\`${input}\` is one of Payrun's own roles and approves nothing`,
      "a role of your own, such as controller or owner",
    );
  }
  return readWord(input, "a role", "controller");
}

/** Reads how many different people must approve. */
export function readQuorum(input: unknown): Reading<number> {
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
export function readProfile(input: unknown): Reading<string> {
  if (typeof input === "string" && /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(input))
    return fine(input);
  return wrong(
    `${shown(input)} is not a business`,
    "the name of one in the profiles file, such as acme",
  );
}

/** Reads `default` or the id of a funding source (API specification, section 2). */
export function readFundingSource(input: unknown): Reading<string> {
  if (typeof input === "string" && /^\S{1,200}$/.test(input)) return fine(input);
  return wrong(
    `${shown(input)} is not a funding source`,
    "default, balance, or the id of a source",
  );
}

/** Reads the name of the playbook that looks after failed payments. */
export function readFailurePlaybook(input: unknown): Reading<string> {
  if (input === "retry-failed") return fine(input);
  const expected = "retry-failed, which is built in";
  return wrong(
    `there is no playbook ${shown(input)} for failed payments`,
    expected,
    suggest(String(input), ["retry-failed"]),
  );
}
