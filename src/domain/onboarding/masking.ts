const MASK = "•••";

/** Nine digits, in a row or grouped like a tax id. */
const TAX_ID = /(?<!\d)(?:\d{9}|\d{3}-\d{2}-\d{4}|\d{2}-\d{7})(?!\d)/g;

/** Shorter values are not masked: they would hide half of every sentence. */
const SHORTEST = 3;

/** How many other characters may separate two characters of a value. */
const BETWEEN_MAX = 3;

/**
 * Masks personal values in a text of the service: services often repeat a value that they refuse,
 * and reviewers write one down.
 *
 * @param personal values that the text must not show, however they are separated
 */
export function withoutPersonal(text: string, personal: readonly string[] = []): string {
  const masked = personal
    .map((value) => charactersOf(value).map(({ folded }) => folded))
    .filter((characters) => characters.length >= SHORTEST)
    .toSorted((a, b) => b.length - a.length)
    .reduce(maskOne, text);
  return masked.replaceAll(TAX_ID, MASK);
}

interface Character {
  /** Case-folded. */
  readonly folded: string;
  readonly from: number;
  readonly to: number;
}

/** The letters and digits of a text, with their positions. */
function charactersOf(text: string): Character[] {
  return [...text.matchAll(/[\p{L}\p{N}]/gu)].map(({ 0: each, index }) => ({
    folded: each.toUpperCase().toLowerCase(),
    from: index,
    to: index + each.length,
  }));
}

/** Masks a value wherever it stands alone, with at most a few other characters within it. */
function maskOne(text: string, value: readonly string[]): string {
  const characters = charactersOf(text);
  let masked = "";
  let done = 0;
  for (let at = 0; at + value.length <= characters.length; at += 1) {
    const found = characters.slice(at, at + value.length);
    if (!isValue(found, value) || !standsAlone(characters, at, value.length)) continue;
    masked += text.slice(done, found[0]?.from) + MASK;
    done = found.at(-1)?.to ?? done;
    at += value.length - 1;
  }
  return masked + text.slice(done);
}

function isValue(found: readonly Character[], value: readonly string[]): boolean {
  return found.every(
    ({ folded, from }, place) =>
      folded === value[place] && from - (found[place - 1]?.to ?? from) <= BETWEEN_MAX,
  );
}

function standsAlone(characters: readonly Character[], at: number, length: number): boolean {
  const before = characters[at - 1]?.to;
  const after = characters[at + length]?.from;
  return before !== characters[at]?.from && after !== characters[at + length - 1]?.to;
}
