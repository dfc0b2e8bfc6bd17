import unhomoglyph from "unhomoglyph";

/**
 * Returns what a letter that is not of ASCII looks like, by Unicode's UTS 39. A Latin letter looks
 * the same in either case; others are looked up as they are written, because their capitals look
 * like other letters.
 */
export function lookOfLetter(letter: string): string {
  const isLatin = /\p{Script=Latin}/u.test(letter);
  const look = unhomoglyph(isLatin ? letter.toLowerCase() : letter);
  // The table has no “m”: it is “rn” there.
  return look === "rn" ? "m" : look;
}

/**
 * Returns one text for small letters and digits of ASCII that look alike: “rn” and “m”, “0” and
 * “o”, “i” (as a capital), “l” and “1”.
 */
export function lookOfAscii(text: string): string {
  return text.replaceAll(/[i1|]/g, "l").replaceAll("0", "o").replaceAll("m", "rn");
}
