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

/** A row of a table under the names that the code uses; its JSON and flags are still to be read. */
export type RecordOf<Table> = {
  readonly [Column in keyof Table as CamelCase<Column & string>]: Table[Column];
};

/** What a record, or a change of one, is in its table's columns. */
type ColumnsOf<Changed> = {
  [Name in keyof Changed as SnakeCase<Name & string>]: Kept<Changed[Name]>;
};

/** Reads a row of a table: each column under its name in camel case. */
export function asRecord<Row extends object>(row: Row): RecordOf<Row> {
  const columns: [string, unknown][] = Object.entries(row);
  const named = columns.map(([column, value]) => [camelCase(column), value]);
  return Object.fromEntries(named) as RecordOf<Row>;
}

/**
 * Writes a record, or what changes of one: each name in snake case, and nothing for what is
 * undefined. Instants are kept in whole milliseconds, rounded up, so that nothing is due early.
 */
export function asColumns<Changed extends object>(changed: Changed): ColumnsOf<Changed> {
  const values: [string, unknown][] = Object.entries(changed);
  const kept = values.flatMap(([name, value]) =>
    value === undefined ? [] : [[snakeCase(name), keptOf(value)]],
  );
  return Object.fromEntries(kept) as ColumnsOf<Changed>;
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
    const renamed = known.get(name) ?? rename(name);
    known.set(name, renamed);
    return renamed;
  };
}
