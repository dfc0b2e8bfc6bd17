import type { Generated } from "kysely";

/** What a column holds: for the databases, and for the types of queries. */
export interface Column<Value, Read = Value> {
  readonly type: "text" | "integer" | "counted";
  readonly mayBeNull: boolean;
  /** What records have instead of the value: 0 and 1 are false and true, JSON is what it says. */
  readonly readFrom?: "flag" | "json";
  /** For the types alone. */
  readonly types?: { readonly value: Value; readonly read: Read };
}

export const text: Column<string> = { type: "text", mayBeNull: false };
export const textOrNull: Column<string | null> = { type: "text", mayBeNull: true };
export const integer: Column<number> = { type: "integer", mayBeNull: false };
export const integerOrNull: Column<number | null> = { type: "integer", mayBeNull: true };
/** The database counts it up. */
export const counted: Column<Generated<number>, number> = { type: "counted", mayBeNull: false };

/** 1 or 0: true or false. */
export const flag: Column<number, boolean> = {
  type: "integer",
  mayBeNull: false,
  readFrom: "flag",
};

export function json<Read>(): Column<string, Read> {
  return { type: "text", mayBeNull: false, readFrom: "json" };
}

export function jsonOrNull<Read>(): Column<string | null, Read | null> {
  return { type: "text", mayBeNull: true, readFrom: "json" };
}

/** One of a few words for whoever reads a record; another program may have written others. */
export function readAs<Word extends string>(): Column<string, Word> {
  return { type: "text", mayBeNull: false };
}

/** One of a few words. */
export function word<Word extends string>(): Column<Word> {
  return { type: "text", mayBeNull: false };
}

export function wordOrNull<Word extends string>(): Column<Word | null> {
  return { type: "text", mayBeNull: true };
}

type Columns = Readonly<Record<string, Column<unknown>>>;

export interface Table {
  readonly columns: Columns;
  /** The columns that tell its rows apart. */
  readonly key: readonly string[];
  readonly onlyGrows?: true;
  readonly writtenOnce?: WrittenOnce;
}

interface TableOf<Of extends Columns> extends Table {
  readonly columns: Of;
}

/** Of a table whose rows stay: what of them is written once, while `column` is `open`. */
export interface WrittenOnce<Name extends string = string> {
  readonly column: Name;
  /** What the column holds as long as the row may still be written. */
  readonly open: string;
  /** What may change then; nothing may afterwards. */
  readonly columns: readonly Name[];
}

export function table<Of extends Columns>(
  key: readonly NoInfer<keyof Of & string>[],
  columns: Of,
): TableOf<Of> {
  return { key, columns };
}

/** A table that refuses changes and deletions. */
export function growing<Of extends Columns>(
  key: readonly NoInfer<keyof Of & string>[],
  columns: Of,
): TableOf<Of> {
  return { key, columns, onlyGrows: true };
}

/** A table that refuses deletions, and changes but for what is written once. */
export function writtenOnce<Of extends Columns>(
  rule: WrittenOnce<NoInfer<keyof Of & string>>,
  key: readonly NoInfer<keyof Of & string>[],
  columns: Of,
): TableOf<Of> {
  return { key, columns, writtenOnce: rule };
}

/** The rows of tables as queries see them. */
export type RowsOf<Tables extends Readonly<Record<string, Table>>> = {
  [Name in keyof Tables]: RowOf<Tables[Name]["columns"]>;
};

type RowOf<Of extends Columns> = {
  -readonly [Name in keyof Of]: Of[Name] extends Column<infer Value, unknown> ? Value : never;
};
