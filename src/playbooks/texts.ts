import { counted } from "../domain/counted.ts";
import { inspect } from "node:util";
import { definedOnly } from "../contracts/defined-only.ts";
import { MINUTE_MS } from "../contracts/durations.ts";
import type { HoursOfDay, Span } from "../contracts/playbook.ts";
import { spanText } from "../domain/clock/spans.ts";
import { formatUsd } from "../domain/money.ts";
import type { Fault } from "./problem.ts";
import { suggest } from "../domain/suggest.ts";

/** The result of reading one text of a playbook: its value, or what is wrong with it. */
export type TextReading<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly fault: Fault;
      /** The text's other mistakes. */
      readonly more?: readonly Fault[];
    };

export function fine<T>(value: T): TextReading<T> {
  return { ok: true, value };
}

export function wrong(message: string, expected?: string, didYouMean?: string): TextReading<never> {
  return {
    ok: false,
    fault: {
      message,
      ...definedOnly({ expected, didYouMean }),
    },
  };
}

/** Returns a short form of a value for a message, never longer than a line. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  const text = typeof value === "string" ? value : inspect(value);
  return `\`${text.length > 60 ? `${text.slice(0, 57)}…` : text}\``;
}

export const MONEY_PATTERN = "^\\$([0-9]{1,3}(,[0-9]{3})+|[0-9]+)(\\.[0-9]+)?[kKM]?$";
const MONEY = /^\$(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?([kKM])?$/;
const MONEY_EXPECTED = "an amount in US dollars, such as $50k, $1.5M, $75,000 or $1,234.56";
const MAX_CENTS = 1_000_000_000_000;

/**
 * Reads an amount of US dollars: `$` and digits, with or without commas between thousands,
 * decimals, `k` or `M`.
 *
 * @returns whole cents above zero, at most $10 billion. A bare number is refused: it could mean
 *   dollars or cents.
 */
export function readMoney(input: unknown): TextReading<number> {
  if (typeof input === "number") {
    const guess =
      Number.isInteger(input) && input > 0 && input < 1e10 ? formatMoney(input * 100) : undefined;
    return wrong(`${shown(input)} has no unit`, MONEY_EXPECTED, guess);
  }
  if (typeof input !== "string") return wrong(`${shown(input)} is not an amount`, MONEY_EXPECTED);
  const match = MONEY.exec(input);
  if (match === null) {
    return wrong(`${shown(input)} is not an amount`, MONEY_EXPECTED, guessMoney(input));
  }
  const [, whole = "", decimals = "", unit] = match;
  const digits = whole.replaceAll(",", "");
  const power = 2 + (unit === undefined ? 0 : unit === "M" ? 6 : 3);
  if (
    decimals.slice(power).replaceAll("0", "") !== "" ||
    (unit === undefined && decimals.length > 2)
  ) {
    return wrong(`${shown(input)} has fractions of a cent`, MONEY_EXPECTED);
  }
  if (digits.length > 15) return tooMuch(input);
  const cents = BigInt(digits + decimals.slice(0, power).padEnd(power, "0"));
  if (cents > BigInt(MAX_CENTS)) return tooMuch(input);
  if (cents === 0n) return wrong(`${shown(input)} would let nothing through`, "more than $0");
  return fine(Number(cents));
}

function tooMuch(input: string): TextReading<never> {
  return wrong(`${shown(input)} is too much`, `at most ${formatMoney(MAX_CENTS)}`);
}

function guessMoney(input: string): string | undefined {
  if (/[€£¥-]/.test(input)) return undefined;
  const bare = input.replace(/usd|dollars?|[$\s_]/gi, "").replace(/m$/, "M");
  const guess = `$${bare}`;
  return guess !== input && MONEY.test(guess) ? guess : undefined;
}

/** Formats cents as `$1,234.56`, whole dollars without decimals; `readMoney` reads it back. */
export function formatMoney(cents: number): string {
  return formatUsd(cents).replace(/\.00$/, "");
}

interface DaysRule {
  readonly unit: "days" | "business days";
  readonly min: number;
  readonly max: number;
  readonly example: string;
}

/** Reads `7 days` or `3 business days`, whichever the rule requires. */
export function readDays(input: unknown, rule: DaysRule): TextReading<number> {
  const expected = `${rule.min} to ${rule.max} ${rule.unit}, such as ${rule.example}`;
  if (typeof input === "number") {
    return wrong(`${shown(input)} has no unit`, expected, `${input} ${rule.unit}`);
  }
  if (typeof input !== "string") return wrong(`${shown(input)} is not a duration`, expected);
  const match = /^(\d{1,6}) ?(business )?(days?|weeks?|d|w)$/i.exec(input);
  if (match === null) return wrong(`${shown(input)} is not a duration`, expected);
  const [, digits = "", business, word = ""] = match;
  const unit = business === undefined ? "days" : "business days";
  const days = Number(digits) * (/^w/i.test(word) ? 7 : 1);
  const written = `${days} ${days === 1 ? rule.unit.slice(0, -1) : rule.unit}`;
  const exact = /^\d+ (business )?days?$/.test(input);
  if (!exact || unit !== rule.unit) {
    const why = unit === rule.unit ? "is not written in days" : `is not in ${rule.unit}`;
    return wrong(`${shown(input)} ${why}`, expected, written);
  }
  if (days < rule.min || days > rule.max) return wrong(`${shown(input)} is out of range`, expected);
  return fine(days);
}

export const SPAN_PATTERN = "^[0-9]+ (hours?|days?|business days?)$";

/** Reads `4 hours`, `1 day` or `2 business days`, at least 1 of the unit. */
export function readSpan(
  input: unknown,
  rule: { readonly most: number; readonly example: string },
): TextReading<Span> {
  const expected = `1 to ${rule.most} hours, days or business days, such as ${rule.example}`;
  if (typeof input === "number") {
    return wrong(
      `${shown(input)} has no unit`,
      expected,
      `${input} ${input === 1 ? "day" : "days"}`,
    );
  }
  const match = /^(\d{1,6}) ?(business )?(hours?|days?|weeks?|h|d|w)$/i.exec(String(input));
  if (typeof input !== "string" || match === null) {
    return wrong(`${shown(input)} is not a duration`, expected);
  }
  const [, digits = "", business = "", word = ""] = match;
  const isHours = /^h/i.test(word);
  if (isHours && business !== "") return wrong(`${shown(input)} is not a duration`, expected);
  const unit = isHours ? "hours" : business === "" ? "days" : "business days";
  const count = Number(digits) * (/^w/i.test(word) ? (business === "" ? 7 : 5) : 1);
  const span: Span = { count, unit };
  if (!new RegExp(SPAN_PATTERN).test(input)) {
    return wrong(`${shown(input)} is not a duration`, expected, spanText(span));
  }
  const isInRange = count >= 1 && count <= rule.most;
  return isInRange ? fine(span) : wrong(`${shown(input)} is out of range`, expected);
}

const TIME = "([01][0-9]|2[0-3]):[0-5][0-9]";
export const TIME_PATTERN = `^${TIME}$`;
const TIME_EXPECTED = 'a time of day of 24 hours, such as "10:00"';

/** Reads `HH:MM`. */
export function readTime(input: unknown): TextReading<string> {
  if (typeof input === "string" && new RegExp(TIME_PATTERN).test(input)) return fine(input);
  const match = /^(\d{1,2})(?::(\d{2}))?(?::\d{2})? ?(am|pm)?$/i.exec(String(input));
  const hour = Number(match?.[1]);
  const half = match?.[3]?.toLowerCase();
  const hour24 = half === undefined ? hour : (hour % 12) + (half === "pm" ? 12 : 0);
  const guess = `${String(hour24).padStart(2, "0")}:${match?.[2] ?? "00"}`;
  const likely = match !== null && new RegExp(TIME_PATTERN).test(guess);
  return wrong(`${shown(input)} is not a time`, TIME_EXPECTED, likely ? guess : undefined);
}

export const HOURS_PATTERN = `^${TIME}-${TIME}$`;

/** Reads hours of a day, `07:00-20:00`. */
export function readHours(input: unknown): TextReading<HoursOfDay> {
  const expected = 'two different times of day, such as "07:00-20:00"';
  const [from = "", to = ""] = String(input).split("-");
  const isHours = typeof input === "string" && new RegExp(HOURS_PATTERN).test(input);
  return isHours && from !== to
    ? fine({ from, to })
    : wrong(`${shown(input)} are no hours`, expected);
}

/** A key that says what follows. By its name in an object, lint would take that for a promise. */
export const THEN = "then";

export const SHORT_TIME_PATTERN = "^[0-9]+ (seconds?|minutes?)$";

/** Reads `30 seconds` or `1 minute`, up to an hour. @returns milliseconds */
export function readShortTime(input: unknown): TextReading<number> {
  const expected = "1 to 60 seconds or minutes, such as 1 minute";
  if (typeof input === "number") {
    return wrong(`${shown(input)} has no unit`, expected, counted(input, "second"));
  }
  const match = /^(\d{1,6}) (second|minute)s?$/.exec(String(input));
  const count = Number(match?.[1]);
  if (typeof input !== "string" || match === null) {
    return wrong(`${shown(input)} is not a duration`, expected);
  }
  if (count < 1 || count > 60) return wrong(`${shown(input)} is out of range`, expected);
  return fine(count * (match[2] === "minute" ? MINUTE_MS : 1_000));
}

const ZONE_EXPECTED = "an IANA time zone, such as America/New_York or UTC";
const SPOKEN_ZONES: Readonly<Record<string, string>> = {
  et: "America/New_York",
  est: "America/New_York",
  edt: "America/New_York",
  eastern: "America/New_York",
  ct: "America/Chicago",
  cst: "America/Chicago",
  cdt: "America/Chicago",
  central: "America/Chicago",
  mt: "America/Denver",
  mst: "America/Denver",
  mdt: "America/Denver",
  mountain: "America/Denver",
  pt: "America/Los_Angeles",
  pst: "America/Los_Angeles",
  pdt: "America/Los_Angeles",
  pacific: "America/Los_Angeles",
  gmt: "UTC",
  z: "UTC",
};

/** Reads the name of an IANA time zone; abbreviations such as EST are refused as ambiguous. */
export function readZone(input: unknown): TextReading<string> {
  if (typeof input !== "string") return wrong(`${shown(input)} is not a time zone`, ZONE_EXPECTED);
  const known = [...Intl.supportedValuesOf("timeZone"), "UTC"];
  if (known.includes(input)) return fine(input);
  const lower = input.toLowerCase();
  const sameLetters = known.find((zone) => zone.toLowerCase() === lower);
  // Older names such as US/Eastern are valid but not listed.
  if (sameLetters === undefined && /^[A-Z]\w+\//.test(input) && isZone(input)) return fine(input);
  const guess =
    sameLetters ?? SPOKEN_ZONES[lower] ?? cityZone(lower, known) ?? suggest(input, known);
  return wrong(`${shown(input)} is not a time zone`, ZONE_EXPECTED, guess);
}

function cityZone(lower: string, known: readonly string[]): string | undefined {
  const city = lower.replace(/[\s_]/g, "");
  return known.find((zone) => zone.toLowerCase().replaceAll("_", "").endsWith(`/${city}`));
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const WORD = /^[a-z0-9]+(-[a-z0-9]+)*$/;
export const WORD_PATTERN = WORD.source;

/** Reads a name in lower-case letters, digits and single hyphens: a role, a playbook. */
export function readWord(input: unknown, what: string, example: string): TextReading<string> {
  if (typeof input === "string" && input.length <= 64 && WORD.test(input)) return fine(input);
  const expected = `${what} in lower-case letters, digits and hyphens, at most 64, such as ${example}`;
  return wrong(`${shown(input)} is not a name`, expected, wordFrom(input));
}

function wordFrom(input: unknown): string | undefined {
  if (typeof input !== "string") return undefined;
  const guess = input
    .trim()
    .toLowerCase()
    .replace(/[\s_.-]+/g, "-");
  return guess.length <= 64 && WORD.test(guess) ? guess : undefined;
}
