import type { Kysely } from "kysely";
import { readerOf, type RecordOf, snakeCase } from "./as-record.ts";
import { chunks, type Db } from "./db.ts";
import { idsIn } from "./many.ts";
import type { Tables } from "./tables.ts";

interface AnyTables {
  [table: string]: Record<string, unknown>;
}

/** The record that has these values; undefined where there is none. */
export async function findOne<Name extends keyof Tables>(
  db: Db,
  name: Name,
  having: Partial<RecordOf<Name>>,
): Promise<RecordOf<Name> | undefined> {
  const row = await rowsHaving(db, name, having).executeTakeFirst();
  return row === undefined ? undefined : (readerOf(name)(row) as unknown as RecordOf<Name>);
}

/** All records that have these values, in the order of columns. */
export async function findAll<Name extends keyof Tables>(
  db: Db,
  name: Name,
  having: Partial<RecordOf<Name>>,
  inOrderOf: readonly (keyof Tables[Name] & string)[],
): Promise<RecordOf<Name>[]> {
  let query = rowsHaving(db, name, having);
  for (const column of inOrderOf) query = query.orderBy(column);
  const rows = await query.execute();
  return rows.map(readerOf(name)) as unknown as RecordOf<Name>[];
}

/** All records that have these values, and one of these ids in a column: however many ids there are. */
export async function findEach<Name extends keyof Tables>(
  db: Db,
  name: Name,
  having: Partial<RecordOf<Name>>,
  column: keyof Tables[Name] & string,
  ids: readonly string[],
): Promise<RecordOf<Name>[]> {
  const found: RecordOf<Name>[] = [];
  for (const some of chunks(ids)) {
    const rows = await rowsHaving(db, name, having).where(column, "in", idsIn(some)).execute();
    found.push(...(rows.map(readerOf(name)) as unknown as RecordOf<Name>[]));
  }
  return found;
}

function rowsHaving(db: Db, name: string, having: object) {
  // The same for every table, whatever its columns are.
  let query = (db as unknown as Kysely<AnyTables>).selectFrom(name).selectAll();
  for (const [field, value] of Object.entries(having)) {
    query = query.where(snakeCase(field), "=", value);
  }
  return query;
}
