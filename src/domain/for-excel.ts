/** Without it, Excel opens a file in the code page of its computer. */
const BYTE_ORDER_MARK = "\uFEFF";

/** Columns of counts; other whole numbers are texts, such as a bill's number. */
const COUNTS: readonly string[] = ["attempts", "debits", "credits"];

/** What Excel reads as a number, a date or a time, such as `0012`, `1E5`, `10-12` or `5/6`. */
const READ_AS_NUMBER = /^\d[\d/:.+-]*(e[+-]?\d+)?$/i;

/** What is meant as one: an amount or a date. */
const NUMBER = /^(\d+\.\d+|\d{4}-\d\d-\d\d)$/;

/**
 * Makes a table (RFC 4180) one that opens right in Excel: in its own characters, and with texts that
 * look like numbers kept as texts, which would otherwise lose their zeros, end in an exponent or
 * become a date.
 *
 * @param parts of the table, split anywhere
 */
export async function* forExcel(parts: AsyncIterable<string>): AsyncGenerator<string> {
  const cells = new Cells();
  yield BYTE_ORDER_MARK;
  for await (const part of parts) yield cells.take(part);
  yield cells.end();
}

class Cells {
  /** Names of the columns; grows while the first row is read. */
  readonly #columns: string[] = [];
  #isHead = true;
  #column = 0;
  #cell = "";
  #isQuoted = false;

  take(part: string): string {
    let text = "";
    for (const character of part) {
      // A doubled quote leaves the quotes and enters them again.
      if (character === '"') this.#isQuoted = !this.#isQuoted;
      const isEnd = !this.#isQuoted && (character === "," || character === "\n");
      if (isEnd) text += this.#ended(character);
      else this.#cell += character;
    }
    return text;
  }

  end(): string {
    return this.#cell === "" ? "" : this.#ended("");
  }

  #ended(by: string): string {
    const isLast = by !== ",";
    const cell = isLast ? this.#cell.replace(/\r$/, "") : this.#cell;
    const rest = this.#cell.slice(cell.length);
    if (this.#isHead) this.#columns.push(cell);
    const isCount = COUNTS.includes(this.#columns[this.#column] ?? "");
    const isText = READ_AS_NUMBER.test(cell) && !NUMBER.test(cell) && !isCount;
    const written = !this.#isHead && isText ? `"=""${cell}"""` : cell;
    this.#cell = "";
    this.#column = isLast ? 0 : this.#column + 1;
    if (isLast) this.#isHead = false;
    return `${written}${rest}${by}`;
  }
}
