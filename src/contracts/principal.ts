import unhomoglyph from "unhomoglyph";
import { lookOfAscii, lookOfLetter } from "./look-alikes.ts";

/**
 * Returns the principal behind a name. Names that look alike are one principal: letter case,
 * spaces, composition of accents, invisible characters (such as Braille's blank, U+2800), and
 * letters that Unicode's UTS 39 lists as look-alikes of Latin ones make no difference. Letters with
 * the same capital count as one, such as the two forms of the Greek sigma.
 */
export function principalOf(tokenName: string): string {
  const folded = foldedOnce(tokenName);
  // A small letter may look like another one than its capital, which it was before.
  return folded === tokenName ? folded : principalOf(folded);
}

function foldedOnce(tokenName: string): string {
  const name = tokenName
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll(/[\s\u2800]+/gu, " ")
    .trim();
  const look = name.normalize("NFKD").replaceAll(/[^\p{ASCII}\p{M}]/gu, lookOfLetter);
  return (LOOKS_LATIN.test(look) ? look : name)
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKD")
    .normalize("NFKC");
}

/** Latin letters of ASCII, with or without accents: what most names are written in. */
const LOOKS_LATIN = /^[\p{ASCII}\p{M}]*$/u;

/**
 * Returns what a name looks like, Latin letters among themselves included (“rn” and “m”, “0” and
 * “O”, capital “I”, “l” and “1”): two names of one look are not given to two people.
 */
export function lookOf(tokenName: string): string {
  return unhomoglyph(lookOfAscii(principalOf(tokenName)));
}

/** True if these are two people's names that look the same. */
export function isOtherOfOneLook(one: string, other: string): boolean {
  return principalOf(one) !== principalOf(other) && lookOf(one) === lookOf(other);
}

/** The scripts that names are written in, with what each of them is written together with. */
const SCRIPTS: readonly RegExp[] = [
  /^[\p{scx=Latin}]*$/u,
  ...["Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Ethiopic", "Thai"].map(
    only,
  ),
  ...["Lao", "Khmer", "Myanmar", "Tibetan", "Sinhala", "Thaana", "Devanagari", "Bengali"].map(only),
  ...["Gujarati", "Gurmukhi", "Kannada", "Malayalam", "Oriya", "Tamil", "Telugu"].map(only),
  /^[\p{scx=Latin}\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]*$/u,
  /^[\p{scx=Latin}\p{scx=Han}\p{scx=Bopomofo}]*$/u,
  /^[\p{scx=Latin}\p{scx=Han}\p{scx=Hangul}]*$/u,
];

function only(script: string): RegExp {
  return new RegExp(`^\\p{scx=${script}}*$`, "u");
}

/** What Payrun's own acts, and those of nobody known, are shown as. */
const SYSTEM = ["payrun", "temporal", "somebody", "unknown", "system"];

/** Returns why nobody may be called this; undefined if somebody may. */
export function personNameProblem(name: string): string | undefined {
  const letters = name.normalize("NFKC").replaceAll(/[^\p{L}\p{M}]/gu, "");
  if (!SCRIPTS.some((script) => script.test(letters))) {
    return "mixes letters of several scripts, which look like other letters: use those of one";
  }
  const isLatin = /^\p{scx=Latin}*$/u.test(letters);
  if (!isLatin && LOOKS_LATIN.test(principalOf(name).normalize("NFKD"))) {
    return "looks like a name in Latin letters, and has none: write it in Latin letters";
  }
  if (SYSTEM.map(lookOf).includes(lookOf(name))) return "is what Payrun's own acts are shown as";
  return undefined;
}

/** Counts the different principals behind these token names. */
export function quorumOf(tokenNames: Iterable<string>): number {
  return new Set([...tokenNames].map(principalOf)).size;
}

/** Returns the names of those who decide without a token, of these profiles. */
export function namedInProfiles(
  profiles: readonly {
    readonly signers?: readonly { readonly name: string }[];
    readonly identities?: readonly { readonly name: string }[];
  }[],
): string[] {
  return profiles.flatMap(({ signers = [], identities = [] }) =>
    [...signers, ...identities].map(({ name }) => name),
  );
}
