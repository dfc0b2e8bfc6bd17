/** Digits of a hash that are shown to people; that many are enough to name it. */
const HASH_DIGITS = 12;

/** Returns the whole hash if `named` is its first digits; otherwise `named`, another hash. */
export function wholeHash(hash: string, named: string): string {
  return named.length >= HASH_DIGITS && hash.startsWith(named) ? hash : named;
}
