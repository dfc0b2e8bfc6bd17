import { NEW_YORK } from "../domain/clock/new-york.ts";
import type { GoesOut } from "./holds.ts";

/**
 * Adds up what goes out after holds of several businesses were lifted, or several holds one after
 * another.
 */
export function allGoesOut(of: readonly GoesOut[]): GoesOut {
  const sumOf = (sums: readonly { readonly bills: number; readonly totalCents: number }[]) => ({
    bills: sums.reduce((sum, { bills }) => sum + bills, 0),
    totalCents: sums.reduce((sum, { totalCents }) => sum + totalCents, 0),
  });
  const notSent = of.flatMap((each) => each.notSent ?? []);
  const asked = of.flatMap(({ asksAgain }) => asksAgain ?? []);
  const [first] = asked;
  // Of several businesses, the one that sends again last.
  const [last] = of.toSorted((a, b) => (b.notBefore ?? "").localeCompare(a.notBefore ?? ""));
  return {
    zone: last?.zone ?? NEW_YORK,
    notBefore: last?.notBefore ?? null,
    ...(of.some(({ restored }) => restored === true) ? { restored: true as const } : {}),
    ...sumOf(of),
    ...(notSent.length === 0 ? {} : { notSent }),
    ...(first === undefined ? {} : { asksAgain: { ...first, ...sumOf(asked) } }),
    items: of.flatMap(({ items }) => items),
  };
}
