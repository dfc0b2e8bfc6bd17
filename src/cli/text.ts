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
