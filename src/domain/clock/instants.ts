/** Returns the milliseconds of an ISO instant that the service sent; null if it sent none. */
export function instantOf(told: string | null | undefined): number | null {
  const ms = Date.parse(told ?? "");
  return Number.isNaN(ms) ? null : ms;
}
