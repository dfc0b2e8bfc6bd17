/**
 * Possible values of the first two digits: Federal Reserve districts, thrifts, electronic,
 * traveler's checks.
 */
const prefixes: readonly (readonly [number, number])[] = [
  [1, 12],
  [21, 32],
  [61, 72],
  [80, 80],
];

const weights = [3, 7, 1, 3, 7, 1, 3, 7, 1];

/** True if a text is a nine-digit ABA routing number with the right check digit. */
export function isRoutingNumber(text: string): boolean {
  if (!/^\d{9}$/.test(text)) return false;
  const prefix = Number(text.slice(0, 2));
  if (!prefixes.some(([low, high]) => prefix >= low && prefix <= high)) return false;
  const sum = weights.reduce((total, weight, place) => total + weight * Number(text[place]), 0);
  return sum % 10 === 0;
}
