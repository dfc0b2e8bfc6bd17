import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import type { Tables } from "../schema/tables.ts";

/**
 * The database that the functions of the table families work on.
 *
 * Pass a transaction to make several calls atomic; with the store's own `db`, each statement
 * commits on its own.
 */
export type Db = Kysely<Tables> | Transaction<Tables>;

const MOST = sql.lit(Number.MAX_SAFE_INTEGER);

/** The number of a group's rows, and the sum of their amounts. */
export const COUNT = sql<number>`count(*)`.as("count");
export const CENTS = sumOfCents("amount_cents").as("cents");

/** Sums amounts; a sum that a number can't express is the greatest one that it can. */
export function sumOfCents(column: string): RawBuilder<number> {
  const sum = sql`sum(${sql.ref(column)})`;
  return sql<number>`case when ${sum} > ${MOST} then ${MOST} else ${sum} end`;
}

/** Few enough rows that no statement exceeds the databases' limit of bound values. */
const ROWS_A_STATEMENT = 400;

export function* chunks<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += ROWS_A_STATEMENT) {
    yield items.slice(start, start + ROWS_A_STATEMENT);
  }
}
