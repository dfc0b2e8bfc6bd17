/**
 * The one person behind a name: what looks alike is one, whatever its case, its spaces, how its
 * accents are put together and what can't be seen in it, such as Braille's blank (U+2800). Letters
 * that have one capital are one, such as the Greek sigma's two.
 */
export function principalOf(tokenName: string): string {
  return tokenName
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll(/[\s\u2800]+/gu, " ")
    .trim()
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKC");
}

/** How many different people stand behind these token names. */
export function quorumOf(tokenNames: Iterable<string>): number {
  return new Set([...tokenNames].map(principalOf)).size;
}
