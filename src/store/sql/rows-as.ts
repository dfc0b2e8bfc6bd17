import { type RawBuilder, sql } from "kysely";
import { asColumns } from "./as-record.ts";
import type { Column } from "../schema/table.ts";
import { TABLES, type Tables } from "../schema/tables.ts";

type Value = string | number | null;

/**
 * Ids as one bound value, for `in`: the statement's text is the same however many there are, so it
 * is prepared once, and travels cheaply to a thread or a server.
 */
export function idsIn(ids: readonly string[]): RawBuilder<string> {
  return sql<string>`(select value ->> 0 from ${eachOf(ids.map((id) => [id]))})`;
}

/**
 * Records as rows of one bound value, to insert, update or join from: `… from ${rowsAs("paid", …)}`.
 * All of them have the same fields; those of the table's columns are what its columns are, others
 * are texts.
 *
 * What a table is joined by stands in these rows, all of it: where a part of the key is given
 * besides, SQLite reads the whole table by that part, once for each row.
 */
export function rowsAs(
  alias: string,
  table: keyof Tables,
  records: readonly object[],
): RawBuilder<unknown> {
  const known: Readonly<Record<string, Column<unknown>>> = TABLES[table].columns;
  const rows = records.map(asColumns) as readonly Readonly<Record<string, Value>>[];
  const columns = Object.keys(rows[0] ?? {});
  const read = columns.map((column, index) => {
    const value = sql.raw(`value ->> ${index}`);
    const isNumber = known[column]?.type === "integer";
    return sql`${isNumber ? sql`cast(${value} as bigint)` : value} as ${sql.ref(column)}`;
  });
  const values = rows.map((row) => columns.map((column) => row[column] ?? null));
  return sql`(select ${sql.join(read)} from ${eachOf(values)}) as ${sql.ref(alias)}`;
}

// In an object: PostgreSQL's jsonb_each knows no lists. Its keys keep the rows' order: PostgreSQL
// sorts shorter keys first.
function eachOf(rows: readonly (readonly Value[])[]): RawBuilder<unknown> {
  const keyed: object = Object.assign({}, rows);
  const text = JSON.stringify(keyed);
  // Only what PostgreSQL refuses in a text is written so.
  const isClean = !/\\u(?:0000|d[89a-f])/.test(text);
  return sql`jsonb_each(${isClean ? text : JSON.stringify(keyed, clean)})`;
}

function clean(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.replaceAll("\0", "\uFFFD").toWellFormed() : value;
}
