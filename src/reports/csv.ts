import { visible } from "../domain/others-text.ts";

/**
 * Returns a text as a cell of a table (RFC 4180).
 *
 * A vendor's name or a memo comes from outside, and a spreadsheet executes a cell that begins like
 * a formula: such a text gets an apostrophe in front. The same applies after a semicolon, a tab or
 * a line break in the text, because spreadsheets of other locales split there even within quotes.
 */
export function cell(text: string): string {
  const marked = visible(text).replaceAll(/(^|[;\t\r\n])([^\S\t\r\n]*[=+\-@＝＋－＠])/g, "$1'$2");
  const safe = /^[\t\r\n]/.test(marked) ? `'${marked}` : marked;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Formats cents as `1234.56`, as spreadsheets and banks write amounts. */
export function decimalDollars(cents: number): string {
  const sign = cents < 0 ? "-" : "";
  const whole = Math.abs(cents);
  return `${sign}${Math.trunc(whole / 100)}.${String(whole % 100).padStart(2, "0")}`;
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.join(",")}\r\n`;
}
