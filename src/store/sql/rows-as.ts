import { type RawBuilder, sql } from "kysely";
import { columnOf, type Stored, valuesOf } from "./as-record.ts";
import type { Column } from "../schema/table.ts";
import { TABLES, type Tables } from "../schema/tables.ts";

/**
 * Returns ids as one bound value, for `in`. The statement's text is the same for any number of ids,
 * so it is prepared once, and is cheap to send to a thread or a server.
 */
export function idsIn(ids: readonly string[]): RawBuilder<string> {
  return sql<string>`(select value ->> 0 from ${eachOf(ids.map((id) => [id]))})`;
}

/**
 * Returns records as rows of one bound value, to insert, update or join from: `… from
 * ${rowsAs("paid", …)}`. All records must have the same fields. Fields that are columns of the
 * table get the column's type; others are texts.
 *
 * Put every column that a table is joined by into these rows. If a part of the key is given
 * separately, SQLite reads the whole table by that part, once for each row.
 */
export function rowsAs(
  alias: string,
  table: keyof Tables,
  records: readonly object[],
): RawBuilder<unknown> {
  const known: Readonly<Record<string, Column<unknown>>> = TABLES[table].columns;
  const [names, values] = valuesOf(records);
  const read = names.map((name, index) => {
    const column = columnOf(name);
    const value = sql.raw(`value ->> ${index}`);
    const isNumber = known[column]?.type === "integer";
    return sql`${isNumber ? sql`cast(${value} as bigint)` : value} as ${sql.ref(column)}`;
  });
  return sql`(select ${sql.join(read)} from ${eachOf(values)}) as ${sql.ref(alias)}`;
}

// Passes an object, because PostgreSQL's jsonb_each takes no lists. Its keys keep the rows' order:
// PostgreSQL sorts shorter keys first.
function eachOf(rows: readonly (readonly Stored[])[]): RawBuilder<unknown> {
  const keyed: object = Object.assign({}, rows);
  const text = JSON.stringify(keyed);
  // JSON.stringify writes what PostgreSQL refuses in a text as one of these escapes.
  const isClean = !/\\u(?:0000|d[89a-f])/.test(text);
  return sql`jsonb_each(${isClean ? text : JSON.stringify(keyed, clean)})`;
}

function clean(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.replaceAll("\0", "\uFFFD").toWellFormed() : value;
}
