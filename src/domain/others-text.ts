/**
 * What a text from outside may not bring along: control characters, which command terminals; marks
 * of direction and other invisible characters, which show a text as another one; halves of
 * characters; separators of lines that only some readers break at (U+2028, U+2029). Line breaks, tabs, and the joiners that some scripts and emoji need, stay.
 */
const HARMFUL = /(?![\n\r\t\u200c\u200d])[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * Returns a text from outside as people may see it, in any medium: characters that can't be seen,
 * or that change how the rest is shown, are points.
 */
export function visible(text: string): string {
  return text.replaceAll(HARMFUL, "·");
}

/** Characters that Markdown gives a meaning to, anywhere in a line or at its beginning. */
const MARKS = /[\\`*_[\]<>|~]|^[#+-]/g;

/** What readers of Markdown make a link of, though nothing marks it as one. */
const ADDRESS = /((?:[a-z][a-z\d+.-]*:\/\/|www\.)\S+|\S+@\S+)/gi;

/**
 * Returns a text from outside as a part of Markdown that has no effect: it is one line, and no
 * link, picture, table or heading. An address can be read and copied, not clicked.
 */
export function inMarkdown(text: string): string {
  const parts = visible(text).replaceAll(/\s+/g, " ").split(ADDRESS);
  return parts
    .map((part, index) =>
      index % 2 === 1 ? `\`${inMarkdownCode(part)}\`` : part.replaceAll(MARKS, String.raw`\$&`),
    )
    .join("");
}

/** Returns a text from outside for Markdown's code between two grave accents. */
export function inMarkdownCode(text: string): string {
  return visible(text).replaceAll(/[`\s|]+/g, " ");
}

/** Letters that are read from right to left, and numbers of their scripts. */
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/**
 * Returns a visible text that doesn't change the order of what stands around it: one with letters
 * that are read from right to left stands between Unicode's marks of isolation.
 */
export function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}
