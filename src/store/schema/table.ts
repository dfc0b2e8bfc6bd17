import type { Generated } from "kysely";

/** A column's definition: for the databases, and for the types of queries. */
export interface Column<Value, Read = Value> {
  readonly type: "text" | "integer" | "counted";
  readonly mayBeNull: boolean;
  /** How records decode the value: 0 and 1 as false and true, JSON as its content. */
  readonly readFrom?: "flag" | "json";
  /** Only for the types. */
  readonly types?: { readonly value: Value; readonly read: Read };
}

export const text: Column<string> = { type: "text", mayBeNull: false };
export const textOrNull: Column<string | null> = { type: "text", mayBeNull: true };
export const integer: Column<number> = { type: "integer", mayBeNull: false };
export const integerOrNull: Column<number | null> = { type: "integer", mayBeNull: true };
/** A key that the database increments. */
export const autoNumber: Column<Generated<number>, number> = { type: "counted", mayBeNull: false };

/** 1 for true, 0 for false. */
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

/**
 * Defines a column that readers get as one of a few words; another version of the program may have
 * written others.
 */
export function readAs<Word extends string>(): Column<string, Word> {
  return { type: "text", mayBeNull: false };
}

export function readAsOrNull<Word extends string>(): Column<string | null, Word | null> {
  return { type: "text", mayBeNull: true };
}

/** Defines a column that holds one of a few words. */
export function word<Word extends string>(): Column<Word> {
  return { type: "text", mayBeNull: false };
}

export function wordOrNull<Word extends string>(): Column<Word | null> {
  return { type: "text", mayBeNull: true };
}

type Columns = Readonly<Record<string, Column<unknown>>>;

export interface Table {
  readonly columns: Columns;
  /** The columns that identify a row. */
  readonly key: readonly string[];
  readonly onlyGrows?: true;
  readonly writtenOnce?: WrittenOnce;
}

interface TableOf<Of extends Columns> extends Table {
  readonly columns: Of;
}

/** For a table whose rows stay: the columns that are written once, while `column` is `open`. */
export interface WrittenOnce<Name extends string = string> {
  readonly column: Name;
  /** The value of `column` as long as the row may still be written. */
  readonly open: string;
  /** The columns that may change until then; nothing may change afterwards. */
  readonly columns: readonly Name[];
}

export function table<Of extends Columns>(
  key: readonly NoInfer<keyof Of & string>[],
  columns: Of,
): TableOf<Of> {
  return { key, columns };
}

/** Defines a table that refuses changes and deletions. */
export function growing<Of extends Columns>(
  key: readonly NoInfer<keyof Of & string>[],
  columns: Of,
): TableOf<Of> {
  return { key, columns, onlyGrows: true };
}

/** Defines a table that refuses deletions, and changes except to what is written once. */
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
