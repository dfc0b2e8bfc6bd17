/**
 * Formats an amount for people: `formatUsd(123456)` is `"$1,234.56"` and `formatUsd(-5)` is
 * `"-$0.05"`.
 *
 * @param cents an integer; anything else is a RangeError
 */
export function formatUsd(cents: number): string {
  const exact = withinReach(cents);
  assertCents(exact, "amount");
  const absolute = Math.abs(exact);
  const dollars = Math.floor(absolute / 100);
  const grouped = String(dollars).replace(/\B(?=(\d{3})+$)/g, ",");
  const rest = String(absolute % 100).padStart(2, "0");
  return `${cents < 0 ? "-" : ""}$${grouped}.${rest}`;
}

/**
 * Adds amounts exactly; a sum that a number can't express is the greatest, or least, that it can.
 *
 * @throws {RangeError} if an amount is not an integer
 */
export function sumCents(amounts: Iterable<number>): number {
  let sum = 0;
  for (const amount of amounts) {
    assertCents(amount, "amount");
    sum = withinReach(sum + amount);
  }
  return sum;
}

/** Returns the nearest number of cents that is exact. */
function withinReach(cents: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, cents));
}

/** Throws a RangeError unless `cents` is an exact integer; `what` names it in the message. */
export function assertCents(cents: number, what: string): void {
  if (!Number.isSafeInteger(cents)) {
    throw new RangeError(`${what} must be a whole number of cents, got ${String(cents)}`);
  }
}
