import { type RawBuilder, sql, type SqlBool } from "kysely";

/**
 * A condition whose values stand in the statement's text, as the condition of a partial index does:
 * with bound values a database can't know that the index holds every row that is asked for.
 *
 * @param values in the index's own order
 */
export function isIn(column: string, values: readonly string[]): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} in (${sql.join(values.map((value) => sql.lit(value)))})`;
}

/** The same for one value. */
export function is(column: string, value: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} = ${sql.lit(value)}`;
}
