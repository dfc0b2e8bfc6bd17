import { type RawBuilder, sql, type SqlBool } from "kysely";

/**
 * Builds an `in` condition with its values in the statement's text, as in the condition of a
 * partial index: with bound values, a database can't know that the index holds every requested row.
 *
 * @param values in the index's own order
 */
export function isIn(column: string, values: readonly string[]): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} in (${sql.join(values.map((value) => sql.lit(value)))})`;
}

/** Builds the same condition for one value. */
export function is(column: string, value: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} = ${sql.lit(value)}`;
}
