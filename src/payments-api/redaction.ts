const mask = "[redacted]";

/** Texts in the form of a social security number or EIN, whatever their origin. */
const taxIdPatterns = [/(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)/g, /(?<!\d)\d{2}-\d{7}(?!\d)/g];

/**
 * Masks what an error must not show: the sensitive texts of the request, however they are
 * separated, and everything in the form of an SSN or EIN. Services often repeat a value that they
 * refuse.
 */
export class Redaction {
  readonly #patterns: readonly RegExp[];

  /** @param sensitive account numbers, tax ids, birth dates, as they were sent */
  constructor(sensitive: readonly string[] = []) {
    // A caller in plain JavaScript may have passed a number.
    this.#patterns = [...sensitive.map(String).flatMap(patternsOf), ...taxIdPatterns];
  }

  text(text: string): string {
    return this.#patterns.reduce((masked, pattern) => masked.replaceAll(pattern, mask), text);
  }

  /** Returns a copy of parsed JSON with keys masked as well. */
  json(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value === "number") {
      const text = this.text(String(value));
      return text === String(value) ? value : text;
    }
    if (Array.isArray(value)) return value.map((item) => this.json(item));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, item]) => [this.text(key), this.json(item)]));
  }
}

/** Matches a text however its letters and digits are separated, and a date in any order. */
function patternsOf(sensitive: string): RegExp[] {
  const characters = sensitive.match(/[\p{L}\p{N}]/gu) ?? [];
  if (characters.length === 0) return [];
  const spread = new RegExp(characters.join("[^\\p{L}\\p{N}]{0,3}"), "giu");
  const date = /^(\d{4})-(\d{2})-(\d{2})/.exec(sensitive);
  if (date === null) return [spread];
  const [, year, month, day] = date.map(Number);
  const gap = "[^\\p{L}\\p{N}]{1,3}";
  // Dates as people write them: 2/3/1980 or 03.02.1980.
  const written = [`0?${month}${gap}0?${day}`, `0?${day}${gap}0?${month}`].map(
    (dayAndMonth) => new RegExp(`(?<!\\d)${dayAndMonth}${gap}${year}(?!\\d)`, "gu"),
  );
  return [spread, ...written];
}
