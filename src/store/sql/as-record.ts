import { onceEach } from "../../domain/once-each.ts";
import type { Column } from "../schema/table.ts";
import { TABLES, type Tables } from "../schema/tables.ts";

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

/** What a column stores for a value: booleans are 0 or 1, lists and objects are JSON. */
type Kept<Value> = Value extends boolean
  ? number
  : Value extends string | number | null | undefined
    ? Value
    : string;

/** A row of a table, as the code uses it. */
export type RecordOf<Name extends keyof Tables> = ReadFrom<Name, Tables[Name]>;

type ReadFrom<Name extends keyof Tables, Selected> = {
  readonly [Of in keyof Selected as CamelCase<Of & string>]: ReadOf<
    (typeof TABLES)[Name]["columns"],
    Of,
    Selected[Of]
  >;
};

/** A column's value as read; also null if a join may find no row for it. */
type ReadOf<Columns, Of, Value> = Of extends keyof Columns
  ? Columns[Of] extends Column<unknown, infer Read>
    ? Read | (null extends Value ? null : never)
    : never
  : Value;

/** The columns of a record, or of a change to one. */
type ColumnsOf<Changed> = {
  [Name in keyof Changed as SnakeCase<Name & string>]: Kept<Changed[Name]>;
};

/**
 * Returns a function that reads rows of a table, or selected columns of them: each column gets its
 * name in camel case, and JSON and flags are decoded. Values of other tables' columns stay as they
 * are.
 */
export function readerOf<Name extends keyof Tables>(name: Name) {
  const columns: Readonly<Record<string, Column<unknown>>> = TABLES[name].columns;
  return <Selected extends object>(row: Selected): ReadFrom<Name, Selected> => {
    const read: Record<string, unknown> = {};
    // Builds no intermediate list: a run of 10,000 bills reads half a million values.
    for (const column of Object.keys(row)) {
      const value: unknown = row[column as keyof Selected];
      read[camelCase(column)] = readValue(columns[column]?.readFrom, value);
    }
    return read as ReadFrom<Name, Selected>;
  };
}

function readValue(from: Column<unknown>["readFrom"], value: unknown): unknown {
  if (from === undefined || value === null) return value;
  return from === "flag" ? value === 1 : JSON.parse(value as string);
}

/**
 * Converts a record, or a change to one, to columns: names become snake case, and undefined fields
 * are left out. Instants are rounded up to whole milliseconds, so that nothing is due early.
 */
export function asColumns<Changed extends object>(changed: Changed): ColumnsOf<Changed> {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(changed)) {
    const value: unknown = changed[name as keyof Changed];
    if (value !== undefined) kept[columnOf(name)] = keptOf(value);
  }
  return kept as ColumnsOf<Changed>;
}

/**
 * Returns what the columns of records store, and the names of their fields. All must have the fields
 * of the first.
 */
export function valuesOf(
  records: readonly object[],
): readonly [names: readonly string[], values: readonly (readonly Stored[])[]] {
  const fields = records as readonly Readonly<Record<string, unknown>>[];
  const names = Object.keys(fields[0] ?? {}).filter((name) => fields[0]?.[name] !== undefined);
  const values = fields.map((record) =>
    names.map((name) => (keptOf(record[name]) ?? null) as Stored),
  );
  return [names, values];
}

/** What a column stores. */
export type Stored = string | number | null;

function keptOf(value: unknown): unknown {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number") return Math.ceil(value);
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}

// Each name once: there are few names and many rows.
const camelCase = onceEach((column) =>
  column.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
);

/** Returns the column of a field. */
export const columnOf = onceEach((name) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
);
