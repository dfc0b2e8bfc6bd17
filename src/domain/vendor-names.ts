import { lookOf } from "../contracts/principal.ts";

/** What companies add to their names, as `foldedVendorName` leaves it. */
const SUFFIXES: ReadonlySet<string> = new Set(
  "ag bv co company corp corporation gmbh inc incorporated limited llc llp lp ltd plc pty sa srl"
    .split(" ")
    .map(lookOf),
);

const ARTICLE = lookOf("the");

/**
 * Returns a text that is equal for names by which people take one vendor for another: those that
 * look alike (UTS 39), whatever their letter case, accents, punctuation and spaces, with or without
 * a suffix such as “Inc.” or “The” in front. A name that is only a suffix keeps it; one without a
 * letter or digit is empty, and equals no other.
 */
export function foldedVendorName(name: string | null): string {
  const plain = (name ?? "").normalize("NFKD").replaceAll(/[\p{M}'’.]/gu, "");
  const words = lookOf(plain)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
  while (words.length > 1 && SUFFIXES.has(words.at(-1) ?? "")) words.pop();
  if (words.length > 1 && words[0] === ARTICLE) words.shift();
  return words.join("");
}
