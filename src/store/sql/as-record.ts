import type { Column } from "../schema/table.ts";
import { TABLES, type Tables } from "../schema/tables.ts";

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

/** What a column holds of a value: flags are 0 or 1, lists and objects are JSON. */
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

/** What a joined table hasn't is null. */
type ReadOf<Columns, Of, Value> = Of extends keyof Columns
  ? Columns[Of] extends Column<unknown, infer Read>
    ? Read | (null extends Value ? null : never)
    : never
  : Value;

/** What a record, or a change of one, is in its table's columns. */
type ColumnsOf<Changed> = {
  [Name in keyof Changed as SnakeCase<Name & string>]: Kept<Changed[Name]>;
};

/**
 * Reads rows of a table, or what was selected of it: each column under its name in camel case, JSON
 * and flags as what they say. What is of other tables is left as it is.
 */
export function readerOf<Name extends keyof Tables>(name: Name) {
  const columns: Readonly<Record<string, Column<unknown>>> = TABLES[name].columns;
  return <Selected extends object>(row: Selected): ReadFrom<Name, Selected> => {
    const read: Record<string, unknown> = {};
    // No list in between: a run of 10,000 bills reads half a million values.
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
 * Writes a record, or what changes of one: each name in snake case, and nothing for what is
 * undefined. Instants are kept in whole milliseconds, rounded up, so that nothing is due early.
 */
export function asColumns<Changed extends object>(changed: Changed): ColumnsOf<Changed> {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(changed)) {
    const value: unknown = changed[name as keyof Changed];
    if (value !== undefined) kept[snakeCase(name)] = keptOf(value);
  }
  return kept as ColumnsOf<Changed>;
}

function keptOf(value: unknown): unknown {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number") return Math.ceil(value);
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}

const camelCase = onceEach((column) =>
  column.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
);

const snakeCase = onceEach((name) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
);

/** There are few names, and many rows. */
function onceEach(rename: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const renamed = rename(name);
    known.set(name, renamed);
    return renamed;
  };
}
