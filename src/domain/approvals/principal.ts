/**
 * The one person behind a name: what looks alike is one, whatever its case, its spaces, how its
 * accents are put together and what can't be seen in it.
 */
export function principalOf(tokenName: string): string {
  return tokenName
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll(/\s+/gu, " ")
    .trim()
    .toLowerCase()
    .normalize("NFKC");
}

/** How many different people stand behind these token names. */
export function quorumOf(tokenNames: Iterable<string>): number {
  return new Set([...tokenNames].map(principalOf)).size;
}
