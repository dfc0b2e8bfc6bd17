/** Digits of a hash that people are shown; as many of them name it. */
const HASH_DIGITS = 12;

/** The whole hash where its first digits were named, else what was named, which is another's. */
export function wholeHash(hash: string, named: string): string {
  return named.length >= HASH_DIGITS && hash.startsWith(named) ? hash : named;
}
