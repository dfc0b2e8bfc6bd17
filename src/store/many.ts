import { type RawBuilder, sql } from "kysely";
import { TABLES, type Tables } from "./tables.ts";

type Value = string | number | null;
type Kind = "text" | "integer";

/** What each column of a row holds. */
export type Kinds<Row> = {
  readonly [Column in keyof Row]: Row[Column] extends number | null ? "integer" : "text";
};

/** What each column of a table holds, for `rowsAs`. */
export function kindsOf<Name extends keyof Tables>(name: Name): Kinds<Tables[Name]> {
  const columns = Object.entries(TABLES[name].columns);
  return Object.fromEntries(columns.map(([column, { type }]) => [column, type])) as Kinds<
    Tables[Name]
  >;
}

/**
 * Ids as one bound value, for `in`: the statement's text is the same however many there are, so it
 * is prepared once, and travels cheaply to a thread or a server.
 */
export function idsIn(ids: readonly string[]): RawBuilder<string> {
  return sql<string>`(select value ->> 0 from ${eachOf(ids.map((id) => [id]))})`;
}

/**
 * Rows as one bound value, to insert, update or join from: `… from ${rowsAs("paid", …)}`.
 *
 * What a table is joined by stands in these rows, all of it: where a part of the key is given
 * besides, SQLite reads the whole table by that part, once for each row.
 */
export function rowsAs<Row extends { readonly [Column in keyof Row]: Value }>(
  alias: string,
  kinds: Kinds<Row>,
  rows: readonly Row[],
): RawBuilder<unknown> {
  const columns = Object.keys(kinds) as (keyof Row & string)[];
  const read = columns.map((column, index) => readAs(column, index, kinds[column]));
  const values = rows.map((row) => columns.map((column) => row[column]));
  return sql`(select ${sql.join(read)} from ${eachOf(values)}) as ${sql.ref(alias)}`;
}

function readAs(column: string, index: number, kind: Kind): RawBuilder<unknown> {
  const value = kind === "integer" ? `cast(value ->> ${index} as bigint)` : `value ->> ${index}`;
  return sql`${sql.raw(value)} as ${sql.ref(column)}`;
}

// In an object: PostgreSQL's json_each knows no lists. Its keys keep the rows' order.
function eachOf(rows: readonly (readonly Value[])[]): RawBuilder<unknown> {
  const keyed: object = Object.assign({}, rows);
  const text = JSON.stringify(keyed);
  // Only what PostgreSQL refuses in a text is written so.
  const isClean = !/\\u(?:0000|d[89a-f])/.test(text);
  return sql`json_each(${isClean ? text : JSON.stringify(keyed, clean)})`;
}

function clean(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.replaceAll("\0", "\uFFFD").toWellFormed() : value;
}
