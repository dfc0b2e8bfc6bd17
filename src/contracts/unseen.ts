/** Characters that people can't tell from a space, or from nothing; tabs are seen by editors. */
const UNSEEN = /(?![ \t\r\n])[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/u;

/** What the commonest of them are called. */
const CALLED: ReadonlyMap<string, string> = new Map([
  ["\u00a0", "no-break space"],
  ["\u00ad", "soft hyphen"],
  ["\u200b", "zero-width space"],
  ["\u200c", "zero-width non-joiner"],
  ["\u200d", "zero-width joiner"],
  ["\u202f", "narrow no-break space"],
  ["\u2060", "word joiner"],
  ["\u3000", "ideographic space"],
  ["\ufeff", "byte-order mark"],
]);

/**
 * Names the first character of a line that can't be seen, as a sentence that follows a mistake's
 * message; null if all can be seen.
 */
export function unseenText(line: string): string | null {
  // A file may begin with a byte-order mark.
  const found = UNSEEN.exec(line.replace(/^\ufeff/, " "));
  if (found === null) return null;
  const [character] = found;
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const called = CALLED.get(character);
  const name = called === undefined ? "" : `, a ${called}`;
  return `column ${found.index + 1} has a character that can't be seen (U+${code}${name})`;
}
