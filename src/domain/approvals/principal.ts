/**
 * The principal behind a name. Names that look alike are one principal: letter case, spaces,
 * composition of accents and invisible characters (such as Braille's blank, U+2800) make no
 * difference. Letters with the same capital count as one, such as the two forms of the Greek sigma.
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

/** Number of different principals behind these token names. */
export function quorumOf(tokenNames: Iterable<string>): number {
  return new Set([...tokenNames].map(principalOf)).size;
}
