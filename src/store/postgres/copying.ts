import { sql, type Transaction } from "kysely";
import pg from "pg";
import type { Tables } from "../schema/tables.ts";
import { toStoreError } from "./errors.ts";
import { locationOf } from "./location.ts";
import { APPLICATION, CONNECT_TIMEOUT_MS } from "./pool.ts";

/**
 * Counts Payrun's connections to the database.
 *
 * @throws {StoreError} if the database can't be asked
 */
export async function countConnections(url: string): Promise<number> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "payrun: who is there",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  try {
    await client.connect();
    const { rows } = await client.query<{ count: string }>(
      `select count(*) as count from pg_stat_activity
       where datname = current_database() and application_name like $1`,
      [`${APPLICATION} %`],
    );
    return Number(rows[0]?.count ?? 0);
  } catch (error) {
    throw toStoreError(error, locationOf(url));
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Keeps all others from writing until the transaction ends, single statements included. */
export async function freezeTables(
  trx: Transaction<Tables>,
  tables: readonly string[],
): Promise<void> {
  await sql`lock table ${sql.join(tables.map((table) => sql.table(table)))} in share mode`.execute(
    trx,
  );
}

/** Lets the numbers of the trail's next entries follow those that were copied. */
export async function continueNumbers(trx: Transaction<Tables>): Promise<void> {
  await sql`
    select setval(pg_get_serial_sequence('audit', 'audit_id'), coalesce(max(audit_id), 0) + 1, false)
    from audit`.execute(trx);
}
