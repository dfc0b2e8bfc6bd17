/** An instant that the service tells as a text, in milliseconds; null where it doesn't tell it. */
export function instantOf(told: string | null | undefined): number | null {
  const ms = Date.parse(told ?? "");
  return Number.isNaN(ms) ? null : ms;
}
