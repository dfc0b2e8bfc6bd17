/** Joins words as a sentence does: `a`, `a and b`, `a, b and c`; `` for none. */
export function inSentence(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}
