const MASK = "•••";

/** Nine digits in a row or grouped as tax ids are, whoever wrote them. */
const TAX_ID = /(?<!\d)(?:\d{9}|\d{3}-\d{2}-\d{4}|\d{2}-\d{7})(?!\d)/g;

/** Shorter ones would mask half of every sentence. */
const SHORTEST = 3;

/**
 * A text of the service without what was sent to it: services like to repeat a value that they
 * refuse, and reviewers to write one down.
 *
 * @param personal values that the text must not show, however they are separated
 */
export function withoutPersonal(text: string, personal: readonly string[] = []): string {
  const masked = personal
    .map((value) => value.match(/[\p{L}\p{N}]/gu) ?? [])
    .filter((characters) => characters.length >= SHORTEST)
    .toSorted((a, b) => b.length - a.length)
    .reduce((left, characters) => left.replaceAll(anyWriting(characters), MASK), text);
  return masked.replaceAll(TAX_ID, MASK);
}

function anyWriting(characters: readonly string[]): RegExp {
  // The flag `i` makes classes of all letters a hundred times slower.
  const eitherCase = characters.map((each) => `[${each.toLowerCase()}${each.toUpperCase()}]`);
  const whole = eitherCase.join("[^\\p{L}\\p{N}]{0,3}");
  return new RegExp(`(?<![\\p{L}\\p{N}])${whole}(?![\\p{L}\\p{N}])`, "gu");
}
