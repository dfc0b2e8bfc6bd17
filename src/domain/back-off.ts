/**
 * A wait that grows with the time passed: this share of it, within bounds, in whole milliseconds.
 */
export function growingMs(
  passedMs: number,
  {
    share,
    firstMs,
    mostMs,
  }: { readonly share: number; readonly firstMs: number; readonly mostMs: number },
): number {
  return Math.round(Math.min(mostMs, Math.max(firstMs, passedMs * share)));
}

/** A wait that doubles with every try: `firstMs` after none, never more than `mostMs`. */
export function doublingMs(firstMs: number, mostMs: number, tries: number): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(tries, 30));
}
