import { usageError } from "./cli-error.ts";

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/**
 * Reads `90s`, `10m`, `2h`, `30d` or `4w`.
 *
 * @param what names the option in the error
 * @returns milliseconds
 */
export function readDuration(text: string, what: string): number {
  const match = /^(\d{1,6})\s*([smhdw])$/.exec(text.trim());
  const unit = UNIT_MS[match?.[2] ?? ""];
  if (match === null || unit === undefined || Number(match[1]) === 0) {
    throw usageError(`${what} must be a duration such as 90s, 10m, 2h or 30d, not “${text}”`);
  }
  return Number(match[1]) * unit;
}

/**
 * Reads when something ends: a date (its end in UTC), an instant, or a duration from now on.
 *
 * @returns milliseconds since the epoch, after `nowMs`
 */
export function readEnd(text: string, what: string, nowMs: number): number {
  if (!/^\d{4}-\d\d-\d\d/.test(text.trim())) return nowMs + readDuration(text, what);
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text.trim());
  const endMs = Date.parse(isDate ? `${text.trim()}T23:59:59.999Z` : text);
  if (Number.isNaN(endMs)) throw usageError(`${what} must be a date or an instant, not “${text}”`);
  if (endMs <= nowMs) throw usageError(`${what} has passed already: ${text}`);
  return endMs;
}
