/** Returns the milliseconds of an ISO instant that the service sent; null if it sent none. */
export function instantOf(told: string | null | undefined): number | null {
  const ms = Date.parse(told ?? "");
  return Number.isNaN(ms) ? null : ms;
}

/** Writes an instant as answers show it: ISO 8601, in UTC, with milliseconds. */
export function isoInstant(ms: number): string {
  return new Date(ms).toISOString();
}
