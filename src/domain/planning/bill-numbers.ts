import { lookOfAscii, lookOfLetter } from "../../contracts/look-alikes.ts";

/**
 * Returns the texts by which a bill's number is compared. Case, spaces, punctuation and leading
 * zeros make no difference, whether zeros lead the whole number or one of its parts: `2026-007`
 * equals both `2026 7` and `2026007`. Nor do letters and digits that look alike, of any script.
 */
export function numberKeys(customNumber: string | null): readonly string[] {
  // “O” is left to the look: a zero that leads would be dropped, and with it the “O” of “PO17”.
  const parts = partsOf(customNumber).map((part) => lettersAsDigits(part, ONES));
  const keys = [parts.map(withoutZeros).join(""), withoutZeros(parts.join(""))];
  return [...new Set(keys.map(lookOfAscii))].filter((key) => key !== "");
}

/** A number as words and runs of digits, without the words that say that it is a number. */
interface NumberForm {
  /** Its runs of digits, years aside. */
  readonly digits: string;
  readonly words: readonly string[];
}

const SAYS_NUMBER: ReadonlySet<string> = new Set(
  "bill inv invoice no nr num number ref".split(" "),
);
const YEAR = /^(?:19|20)\d\d$/;
/** Fewer digits may be a month, a part, or a place. */
const DIGITS_LEAST = 3;

/**
 * Returns the ways to read a number by which nearly equal ones are found; none for one with hardly a
 * digit.
 */
export function numberForms(customNumber: string | null): readonly NumberForm[] {
  const parts = partsOf(customNumber);
  const asDigits = parts.map((part) => lettersAsDigits(part, ONES_AND_ZEROS));
  const read = [parts, asDigits].map(formOf);
  const forms = read.filter(({ digits }) => digits.replaceAll(".", "").length >= DIGITS_LEAST);
  return forms.filter((form, index) => index === 0 || !isSame(form, forms[0]));
}

/** True if one number is the other with words or a year added: `1001` and `2026-INV-1001-R`. */
export function isNearlySame(one: NumberForm, other: NumberForm): boolean {
  if (one.digits !== other.digits) return false;
  const [few, many] =
    one.words.length < other.words.length ? [one.words, other.words] : [other.words, one.words];
  let found = 0;
  for (const word of many) if (word === few[found]) found += 1;
  return found === few.length;
}

function isSame(one: NumberForm, other: NumberForm | undefined): boolean {
  return one.words.join(" ") === other?.words.join(" ");
}

function formOf(parts: readonly string[]): NumberForm {
  const words = parts
    .flatMap((part) => part.match(/\d+|[^\d]+/g) ?? [])
    .map(withoutZeros)
    .filter((word) => word !== "" && !SAYS_NUMBER.has(word));
  const digits = words.filter((word) => /^\d/.test(word));
  const others = digits.filter((word) => !YEAR.test(word));
  return { words, digits: (others.length === 0 ? digits : others).join(".") };
}

/** Reads the letters that look like digits as digits where they stand beside one. */
function lettersAsDigits(part: string, letters: RegExp): string {
  const read = part.replaceAll(letters, (letter) => (letter === "o" ? "0" : "1"));
  return read === part ? part : lettersAsDigits(read, letters);
}

const ONES = /(?<=\d)[il]|[il](?=\d)/g;
const ONES_AND_ZEROS = /(?<=\d)[oil]|[oil](?=\d)/g;

/** Splits a number into words of small letters and digits, those that look Latin in ASCII. */
function partsOf(customNumber: string | null): readonly string[] {
  const text = customNumber ?? "";
  const look = /^\p{ASCII}*$/u.test(text)
    ? text
    : text
        .normalize("NFKC")
        .normalize("NFKD")
        .replaceAll(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, "")
        .replaceAll(/\p{Nd}/gu, asciiDigit)
        .replaceAll(/\P{ASCII}/gu, lookOfLetter);
  return look
    .toUpperCase()
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
}

/** Digits of each script are ten in a row. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}

/** Drops leading zeros; those after digits, also if “o” stands for a zero between, lead nothing. */
function withoutZeros(text: string): string {
  return text.replaceAll(/(?<!\p{N}o*)0+/gu, "");
}
