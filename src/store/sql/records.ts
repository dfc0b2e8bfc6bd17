import { type Kysely, sql } from "kysely";
import { asColumns, readerOf, type RecordOf } from "./as-record.ts";
import { chunks, type Db } from "./db.ts";
import { idsIn } from "./rows-as.ts";
import type { Tables } from "../schema/tables.ts";

/** Values that a table's records must have; an empty object stands for all records. */
type Having<Name extends keyof Tables> = Partial<RecordOf<Name>>;

/** Returns the record that has these values; undefined if there is none. */
export async function findOne<Name extends keyof Tables>(
  db: Db,
  name: Name,
  having: Having<Name>,
): Promise<RecordOf<Name> | undefined> {
  const row = await rowsHaving(db, name, having).executeTakeFirst();
  return row === undefined ? undefined : (readerOf(name)(row) as unknown as RecordOf<Name>);
}

/** Returns all records that have these values, ordered by these columns. */
export async function findAll<Name extends keyof Tables>(
  db: Db,
  name: Name,
  having: Having<Name>,
  inOrderOf: readonly (keyof Tables[Name] & string)[],
): Promise<RecordOf<Name>[]> {
  let query = rowsHaving(db, name, having);
  for (const column of inOrderOf) query = query.orderBy(column);
  const rows = await query.execute();
  return rows.map(readerOf(name)) as unknown as RecordOf<Name>[];
}

/**
 * Returns all records that have these values and one of these ids in `column`, however many ids
 * there are.
 */
export async function findEach<Name extends keyof Tables>(
  db: Db,
  name: Name,
  having: Having<Name>,
  column: keyof Tables[Name] & string,
  ids: readonly string[],
): Promise<RecordOf<Name>[]> {
  const found: RecordOf<Name>[] = [];
  for (const some of chunks(ids)) {
    const isIn = sql<boolean>`${sql.ref(column)} in ${idsIn(some)}`;
    const rows = await rowsHaving(db, name, having).where(isIn).execute();
    found.push(...(rows.map(readerOf(name)) as unknown as RecordOf<Name>[]));
  }
  return found;
}

/** Changes the records that have these values. @returns how many */
export async function changeRecords<Name extends keyof Tables>(
  db: Db,
  name: Name,
  having: Having<Name>,
  change: Partial<RecordOf<Name>>,
): Promise<number> {
  const table: string = name;
  let query = untyped(db).updateTable(table).set(asColumns(change));
  for (const [column, is, value] of conditions(having)) query = query.where(column, is, value);
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}

/** Deletes the records that have these values. @returns how many */
export async function deleteRecords<Name extends keyof Tables>(
  db: Db,
  name: Name,
  having: Having<Name>,
): Promise<number> {
  const table: string = name;
  let query = untyped(db).deleteFrom(table);
  for (const [column, is, value] of conditions(having)) query = query.where(column, is, value);
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

function rowsHaving(db: Db, name: string, having: object) {
  let query = untyped(db).selectFrom(name).selectAll();
  for (const [column, is, value] of conditions(having)) query = query.where(column, is, value);
  return query;
}

function conditions(having: object): (readonly [string, "=" | "is", unknown])[] {
  // Without the condition, the statement would name every record.
  const unknown = Object.entries(having).find(([, value]) => value === undefined);
  if (unknown !== undefined) throw new TypeError(`${unknown[0]} is not known`);
  const columns: [string, unknown][] = Object.entries(asColumns(having));
  return columns.map(([column, value]) => [column, value === null ? "is" : "=", value]);
}

interface AnyTables {
  [table: string]: Record<string, unknown>;
}

/**
 * Returns `db` without the types of its tables, for statements that are the same for every table.
 */
export function untyped(db: Db): Kysely<AnyTables> {
  return db as unknown as Kysely<AnyTables>;
}
