/** A rest that doubles with every try: `firstMs` after none, never more than `mostMs`. */
export function doublingMs(firstMs: number, mostMs: number, tries: number): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(tries, 30));
}
