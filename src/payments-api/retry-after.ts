/** Longer than any pause worth honoring without a person: a day. */
const longestMs = 24 * 60 * 60 * 1000;

/**
 * Reads a `Retry-After` header.
 *
 * @param header seconds or an HTTP date; anything else counts as absent
 * @param serviceNowMs the service's clock, which a date is relative to
 * @returns milliseconds to wait, 0 to one day; undefined if there is nothing to honor
 */
export function parseRetryAfter(
  header: string | undefined,
  serviceNowMs: number,
): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return clamp(Number(text) * 1000);
  const untilMs = parseHttpDate(text);
  return untilMs === undefined ? undefined : clamp(untilMs - serviceNowMs);
}

/** Reads an HTTP date such as a `Date` header, as epoch milliseconds. */
export function parseHttpDate(header: string | undefined): number | undefined {
  // Date.parse alone would take "12" or "-5" for a year.
  if (header === undefined || !/^[A-Za-z]{3,9},? /.test(header)) return undefined;
  const ms = Date.parse(header);
  return Number.isNaN(ms) ? undefined : ms;
}

function clamp(ms: number): number {
  return Math.ceil(Math.min(Math.max(ms, 0), longestMs));
}
