/**
 * Returns a wait that grows with the time passed: a share of it, from `firstMs` to `mostMs`, in
 * whole milliseconds.
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

/**
 * Returns a wait that doubles with every try: `firstMs` after no tries, never more than `mostMs`.
 */
export function doublingMs(firstMs: number, mostMs: number, tries: number): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(tries, 30));
}
