import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/** Colours for a person at a terminal; nothing where the output goes elsewhere or NO_COLOR is set. */
function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

export const bold = (text: string) => styled("bold", text);
export const dim = (text: string) => styled("dim", text);
export const green = (text: string) => styled("green", text);
export const yellow = (text: string) => styled("yellow", text);
export const red = (text: string) => styled("red", text);

/** Names and memos come from outside and must not be able to steer the reader's terminal. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, "·");
}

/** `count(1, "bill")` is `1 bill`, `count(2, "bill")` is `2 bills`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}

export interface Column {
  readonly title?: string;
  readonly align?: "left" | "right";
}

const ESCAPES = new RegExp(`${String.fromCodePoint(27)}\\[\\d+(;\\d+)*m`, "g");

/** Lines of aligned columns, two spaces apart; a header where a column has a title. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const header = columns.map((column) => column.title ?? "");
  const hasHeader = header.some((title) => title !== "");
  const all = hasHeader ? [header, ...rows] : rows;
  const widths = columns.map((_, index) =>
    Math.max(0, ...all.map((row) => width(row[index] ?? ""))),
  );
  const lines = all.map((row) =>
    columns
      .map((column, index) => pad(row[index] ?? "", widths[index] ?? 0, column.align ?? "left"))
      .join("  ")
      .trimEnd(),
  );
  const [first] = lines;
  return hasHeader && first !== undefined ? [dim(first), ...lines.slice(1)] : lines;
}

function width(text: string): number {
  return text.replace(ESCAPES, "").length;
}

function pad(text: string, wanted: number, align: "left" | "right"): string {
  const space = " ".repeat(Math.max(0, wanted - width(text)));
  return align === "right" ? space + text : text + space;
}

/** At most `longest` characters, with an ellipsis where something was cut. */
export function short(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

/** Columns of the reader's terminal, and of lines that go elsewhere. */
const COLUMNS = 100;

/** Lines of whole words that fit the terminal; all but the first are indented by two more. */
export function wrapped(text: string, indent = 2): string[] {
  const most = Math.max(40, process.stdout.columns ?? COLUMNS) - indent;
  const begin = text.slice(0, text.length - text.trimStart().length);
  const lines: string[] = [];
  let line = "";
  for (const word of text.trim().split(" ")) {
    if (line !== "" && width(line) + 1 + width(word) > most) {
      lines.push(line);
      line = `${begin}  ${word}`;
    } else {
      line = line === "" ? `${begin}${word}` : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** The beginning of a line that is longer than the terminal is wide; its colours end with it. */
export function fitted(line: string, indent = 2): string {
  const most = Math.max(40, process.stdout.columns ?? COLUMNS) - indent;
  if (width(line) <= most) return line;
  let end = 0;
  for (let shown = 0; shown < most - 1;) {
    const escape = new RegExp(ESCAPES.source, "y");
    escape.lastIndex = end;
    const found = escape.exec(line)?.[0];
    end += found?.length ?? 1;
    if (found === undefined) shown += 1;
  }
  const reset = line.includes(String.fromCodePoint(27)) ? `${String.fromCodePoint(27)}[0m` : "";
  return `${line.slice(0, end)}…${reset}`;
}
