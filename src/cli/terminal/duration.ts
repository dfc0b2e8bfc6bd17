import { DAY_MS, HOUR_MS } from "../../contracts/durations.ts";
import { usageError } from "./cli-error.ts";

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
};

/** ISO 8601, as the service writes durations; months and years have no fixed length. */
const ISO = /^P(?=.)(\d{1,6}W)?(\d{1,6}D)?(?:T(?=.)(\d{1,6}H)?(\d{1,6}M)?(\d{1,6}S)?)?$/;
const SHORT = /^\d{1,6}\s*[smhdw]$/;

/**
 * Reads `90s`, `10m`, `2h`, `30d` or `4w`, and `PT90S`, `PT2H` or `P30D`.
 *
 * @param what names the option in the error
 * @returns milliseconds
 */
export function readDuration(text: string, what: string): number {
  return durationOf(text, `${what} must be a duration`);
}

function durationOf(text: string, must: string): number {
  const asked = text.trim();
  const parts = SHORT.test(asked) ? [asked] : (ISO.exec(asked)?.slice(1) ?? []);
  const ms = parts.reduce((sum, part) => sum + partMs(part), 0);
  if (ms > 0) return ms;
  throw usageError(
    `${must}: 90s, 10m, 6h, 3d or 2w, or in ISO 8601 such as P3D, PT6H or P1DT12H; not “${text}”`,
  );
}

/** Returns the milliseconds of a number and its unit, the last letter; zero for a missing part. */
function partMs(part: string | undefined): number {
  if (part === undefined) return 0;
  return Number.parseInt(part, 10) * (UNIT_MS[part.slice(-1).toLowerCase()] ?? 0);
}

/**
 * Reads when something ends: a date (its end in UTC), an instant, or a duration from now.
 *
 * @returns milliseconds since the epoch, after `nowMs`
 */
export function readEnd(text: string, what: string, nowMs: number): number {
  if (!/^\d{4}-\d\d-\d\d/.test(text.trim())) {
    return nowMs + durationOf(text, `${what} must be a date, such as 2026-12-31, or a duration`);
  }
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text.trim());
  const endMs = Date.parse(isDate ? `${text.trim()}T23:59:59.999Z` : text);
  if (Number.isNaN(endMs)) throw usageError(`${what} must be a date or an instant, not “${text}”`);
  if (endMs <= nowMs) throw usageError(`${what} has passed already: ${text}`);
  return endMs;
}
