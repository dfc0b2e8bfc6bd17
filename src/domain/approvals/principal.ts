/** Token names are compared without case and surrounding space: two tokens of one name are one person. */
export function principalOf(tokenName: string): string {
  return tokenName.trim().toLowerCase();
}

/** How many different people stand behind these token names. */
export function quorumOf(tokenNames: Iterable<string>): number {
  return new Set([...tokenNames].map(principalOf)).size;
}
