/** Letters that look like Latin ones, small or capital: first Cyrillic, then Greek. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map([
  ...pairs(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u051d\u04bb\u04cf\u0475",
    "abekmhopctyxijsdqwhlv",
  ),
  ...pairs(
    "\u03b1\u03b2\u03b5\u03b6\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7",
    "abezhikmnoptyx",
  ),
]);

function pairs(letters: string, latin: string): [string, string][] {
  return Array.from(letters, (letter, index) => [letter, latin[index] ?? letter]);
}

/**
 * Returns the principal behind a name. Names that look alike are one principal: letter case,
 * spaces, composition of accents, invisible characters (such as Braille's blank, U+2800) and
 * Cyrillic or Greek letters in place of Latin ones make no difference. Letters with the same
 * capital count as one, such as the two forms of the Greek sigma.
 */
export function principalOf(tokenName: string): string {
  return tokenName
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll(/[\s\u2800]+/gu, " ")
    .trim()
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(
      /[\p{Script=Cyrillic}\p{Script=Greek}]/gu,
      (letter) => LOOKALIKES.get(letter) ?? letter,
    )
    .normalize("NFKC");
}

/** Counts the different principals behind these token names. */
export function quorumOf(tokenNames: Iterable<string>): number {
  return new Set([...tokenNames].map(principalOf)).size;
}
