import { visible } from "../../domain/others-text.ts";
import { stripVTControlCharacters, styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/**
 * Colors text for a person at a terminal; leaves it plain if the output goes elsewhere or NO_COLOR
 * is set.
 */
function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/** Removes the colors of a text for standard output if standard error has none. */
export function forStandardError(text: string): string {
  const isPlain = styleText("red", "-", { stream: process.stderr }) === "-";
  return isPlain ? stripVTControlCharacters(text) : text;
}

export const bold = (text: string) => styled("bold", text);
export const dim = (text: string) => styled("dim", text);
export const green = (text: string) => styled("green", text);
export const yellow = (text: string) => styled("yellow", text);
export const red = (text: string) => styled("red", text);

const OWN_COLORS = new RegExp(`(${String.fromCodePoint(27)}\\[[\\d;]*m)`);

/** Returns a text in which nothing but its colors can control the reader's terminal. */
export function visibleInColors(text: string): string {
  return text
    .split(OWN_COLORS)
    .map((part, index) => (index % 2 === 1 ? part : visible(part)))
    .join("");
}

/** Names and memos come from outside and must not be able to control the reader's terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "·");
}

export interface TextColumn {
  readonly title?: string;
  readonly align?: "left" | "right";
  /** True for a first column whose names are useless if they are cut. */
  readonly whole?: boolean;
}

const ESCAPES = new RegExp(`${String.fromCodePoint(27)}\\[\\d+(;\\d+)*m`, "g");

/**
 * Returns lines of aligned columns, two spaces apart, with a header if a column has a title. They
 * fit the reader's terminal with an indent of two: texts in a last column wrap, the name in a first
 * column is cut but never the numbers behind it, and if that isn't enough, a row takes several
 * lines. Output that goes elsewhere has one line for each row.
 */
export function textTable(
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
): string[] {
  const header = columns.map((column) => column.title ?? "");
  const hasHeader = header.some((title) => title !== "");
  const all = hasHeader ? [header, ...rows] : rows;
  const widths = columns.map((_, index) =>
    Math.max(0, ...all.map((row) => width(row[index] ?? ""))),
  );
  const isWhole = columns[0]?.whole === true;
  const least = Math.max(
    FIRST_LEAST,
    ...all.map(([name = ""]) => width(isWhole ? name : kept(name))),
  );
  const aligned = all.map((row) => fitRow(columns, { widths, least }, row));
  const [first] = aligned;
  const lines = aligned.flat();
  return hasHeader && first !== undefined
    ? [...first.map(dim), ...lines.slice(first.length)]
    : lines;
}

/** Texts are not squeezed into less than this; they get their own lines. */
const TEXT_LEAST = 24;

/** A first column is not cut to less than this. */
const FIRST_LEAST = 12;

/** The widths of columns with enough room, and how far the first may be cut. */
interface Measures {
  readonly widths: readonly number[];
  readonly least: number;
}

/** Returns the lines that one row takes. */
function fitRow(
  columns: readonly TextColumn[],
  { widths, least }: Measures,
  row: readonly string[],
): string[] {
  const most = terminalRoom();
  const total = totalOf(widths);
  const last = columns.length - 1;
  if (most === undefined || total <= most || last < 1) return [rowText(columns, widths, row)];
  const cutWhole = cutFirst(widths, { most, least });
  const isTexts = columns[last]?.align !== "right";
  // A short last column stays beside the others if a shorter name makes room for it.
  if (!isTexts || (widths[last] ?? 0) <= TEXT_LEAST) {
    if (totalOf(cutWhole) <= most) return [rowText(columns, cutWhole, row)];
    if (!isTexts) return packed(row, most);
  }
  const before = widths.slice(0, last);
  const room = most - totalOf(before) - 2;
  const text = row[last] ?? "";
  if (room >= TEXT_LEAST) {
    const [begin = "", ...rest] = broken(text, room);
    const indent = " ".repeat(most - room);
    const line = rowText(columns, widths, [...row.slice(0, last), begin]);
    return [line, ...rest.map((part) => `${indent}${part}`)];
  }
  const head = cutFirst(before, { most, least });
  if (totalOf(head) > most) return packed(row, most);
  const line = rowText(columns.slice(0, last), head, row.slice(0, last));
  return [line, ...(text === "" ? [] : broken(text, most - 4).map((part) => `    ${part}`))];
}

/** Puts a row's cells one after the other on as many lines as needed, indented after the first. */
function packed(row: readonly string[], most: number): string[] {
  const cells = row.filter((cell) => cell.trim() !== "");
  const lines: string[] = [];
  for (const [index, cell] of cells.entries()) {
    const line = lines.at(-1);
    if (line !== undefined && width(line) + 2 + width(cell) <= most) {
      lines[lines.length - 1] = `${line}  ${cell}`;
    } else if (index === 0) {
      lines.push(cutName(cell, most));
    } else {
      lines.push(...broken(cell, most - 4).map((part) => `    ${part}`));
    }
  }
  return lines;
}

/** Returns the widths with a first column that leaves room for the others. */
function cutFirst(
  widths: readonly number[],
  { most, least }: { readonly most: number; readonly least: number },
): readonly number[] {
  const [first = 0, ...others] = widths;
  const over = Math.max(0, totalOf(widths) - most);
  return [Math.max(Math.min(first, least), first - over), ...others];
}

/** Words with numbers in them at the end of a text: bills' numbers, sums, ids. */
const NUMBERS = /(?:^|(?<= ))(?:\S*\d\S*(?: |$))+$/;

/** A name is not cut further than this. */
const NAME_LEAST = 6;

/** Returns the least that remains of a name with numbers behind it. */
function kept(text: string): string {
  const plain = text.replace(ESCAPES, "");
  const numbers = NUMBERS.exec(plain)?.[0] ?? "";
  const name = plain.slice(0, plain.length - numbers.length);
  return numbers === "" ? "" : `${name.slice(0, NAME_LEAST)}${numbers}`;
}

/** Cuts a name so that it fits with the numbers behind it; numbers alone are never cut. */
function cutName(text: string, most: number): string {
  if (width(text) <= most) return text;
  const plain = text.replace(ESCAPES, "");
  const numbers = NUMBERS.exec(plain)?.[0] ?? "";
  if (numbers === "") return cut(text, most);
  const name = plain.slice(0, plain.length - numbers.length);
  if (name === "") return text;
  return `${cut(name.trimEnd(), Math.max(NAME_LEAST - 1, most - numbers.length - 1))} ${dim(numbers)}`;
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, 0) + 2 * Math.max(0, widths.length - 1);
}

function rowText(
  columns: readonly TextColumn[],
  widths: readonly number[],
  row: readonly string[],
): string {
  return columns
    .map(({ align = "left" }, index) => {
      const wanted = widths[index] ?? 0;
      return pad(index === 0 ? cutName(row[0] ?? "", wanted) : (row[index] ?? ""), wanted, align);
    })
    .join("  ")
    .trimEnd();
}

function width(text: string): number {
  return text.replace(ESCAPES, "").length;
}

function pad(text: string, wanted: number, align: "left" | "right"): string {
  const space = " ".repeat(Math.max(0, wanted - width(text)));
  return align === "right" ? space + text : text + space;
}

/** Returns at most `longest` characters, with an ellipsis if something was cut. */
export function short(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

/** Columns of lines that don't go to a terminal. */
const COLUMNS = 100;

/**
 * Assumes 80 columns for a terminal that doesn't report its size, such as a container's. Otherwise
 * prompts and tables would put every letter on its own line.
 */
export function assumeColumns(terminal: { columns?: number }): void {
  if (terminal.columns === 0) terminal.columns = 80;
}

/** Returns the columns of the reader's terminal, less an indent; undefined if there is none. */
function terminalRoom(indent = 2): number | undefined {
  const { columns } = process.stdout;
  return columns === undefined ? undefined : Math.max(40, columns) - indent;
}

function roomOf(indent: number): number {
  return terminalRoom(indent) ?? COLUMNS - indent;
}

/**
 * Wraps a text into lines of whole words that fit the terminal; all but the first are indented by
 * two more.
 */
export function wrapped(text: string, indent = 2): string[] {
  const begin = text.slice(0, text.length - text.trimStart().length);
  const [first = "", ...more] = broken(text.trim(), roomOf(indent) - begin.length, 2);
  return [`${begin}${first}`, ...more.map((line) => `${begin}  ${line}`)];
}

/** Does what `wrapped` does, for a terminal only: output that goes elsewhere stays on one line. */
export function fitting(lines: readonly string[]): string[] {
  return terminalRoom() === undefined ? [...lines] : lines.flatMap((line) => wrapped(line, 0));
}

/** Breaks a text into lines of whole words; all but the first have `less` fewer columns. */
function broken(text: string, most: number, less = 0): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const room = lines.length === 0 ? most : most - less;
    if (line !== "" && width(line) + 1 + width(word) > room) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** Cuts a line that is wider than the terminal; its colors end at the cut. */
export function fitted(line: string, indent = 2): string {
  return cut(line, roomOf(indent));
}

/** Cuts a line to at most `most` characters, not counting colors, which end at the cut. */
function cut(line: string, most: number): string {
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
