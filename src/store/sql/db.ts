import { type Kysely, sql, type Transaction } from "kysely";
import type { Tables } from "../schema/tables.ts";

/**
 * What the functions of the table families work on.
 *
 * Pass a transaction to make several of them one act; with the store's own `db` each statement
 * stands for itself.
 */
export type Db = Kysely<Tables> | Transaction<Tables>;

/** How many rows a group has, and what they come to. */
export const COUNT = sql<number>`count(*)`.as("count");
export const CENTS = sql<number>`sum(amount_cents)`.as("cents");

/** Few enough rows that no statement exceeds the databases' limit of bound values. */
const ROWS_A_STATEMENT = 400;

export function* chunks<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += ROWS_A_STATEMENT) {
    yield items.slice(start, start + ROWS_A_STATEMENT);
  }
}
