import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { addMissingColumns } from "./older-database.ts";

interface Bookkeeping {
  statements: Map<string, StatementSync>;
  afterCommit: (() => void)[];
}

const bookkeeping = new WeakMap<DatabaseSync, Bookkeeping>();

function booksOf(db: DatabaseSync): Bookkeeping {
  let books = bookkeeping.get(db);
  if (books === undefined) {
    books = { statements: new Map(), afterCommit: [] };
    bookkeeping.set(db, books);
  }
  return books;
}

/**
 * Opens the sandbox's database and creates the tables of every feature.
 *
 * Write-ahead logging with `synchronous = NORMAL`: what was committed survives the death of the
 * process, but not a loss of power, which a sandbox need not survive. Only one process can have the
 * database open at a time.
 *
 * @param path a file, or `:memory:`.
 * @param ddls statements that may run again (`CREATE TABLE IF NOT EXISTS`).
 */
export function openDatabase(path: string, ddls: readonly string[]): DatabaseSync {
  const db = new DatabaseSync(path);
  // Exclusive: two services on one data directory would each rely on their own clock and timers.
  db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA busy_timeout = 2000;");
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
  // Fewer checkpoints, each of which waits for the disk; pages stay in memory instead of being read
  // again.
  db.exec("PRAGMA wal_autocheckpoint = 8000; PRAGMA cache_size = -65536;");
  addMissingColumns(db, ddls);
  for (const ddl of ddls) db.exec(ddl);
  return db;
}

/** Returns the prepared statement of `sql`, which is prepared once per database. */
function statement(db: DatabaseSync, sql: string): StatementSync {
  const { statements } = booksOf(db);
  let prepared = statements.get(sql);
  if (prepared === undefined) {
    prepared = db.prepare(sql);
    statements.set(sql, prepared);
  }
  return prepared;
}

/**
 * Runs `work` in one transaction: all of it is kept, or nothing if it throws.
 *
 * Inside another transaction it joins that one. `work` is synchronous, so nothing else can run
 * between the parts of a request's effect.
 */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  if (db.isTransaction) return work();
  const books = booksOf(db);
  statement(db, "BEGIN IMMEDIATE").run();
  let result: T;
  try {
    result = work();
    statement(db, "COMMIT").run();
  } catch (error) {
    books.afterCommit.length = 0;
    if (db.isTransaction) statement(db, "ROLLBACK").run();
    throw error;
  }
  for (const callback of books.afterCommit.splice(0)) callback();
  return result;
}

/** Runs `work` and keeps nothing of it if it throws, even inside a transaction that goes on. */
export function allOrNothing<T>(db: DatabaseSync, work: () => T): T {
  if (!db.isTransaction) return transaction(db, work);
  const { afterCommit: callbacks } = booksOf(db);
  const known = callbacks.length;
  statement(db, "SAVEPOINT part").run();
  try {
    return work();
  } catch (error) {
    callbacks.length = known;
    statement(db, "ROLLBACK TO part").run();
    throw error;
  } finally {
    statement(db, "RELEASE part").run();
  }
}

/**
 * Calls `callback` once the current transaction is committed, and never if it is rolled back.
 * Outside a transaction it calls `callback` at once.
 */
export function afterCommit(db: DatabaseSync, callback: () => void): void {
  if (db.isTransaction) booksOf(db).afterCommit.push(callback);
  else callback();
}

/** Returns the first row of a query; its columns are trusted to be those of `Row`. */
export function getRow<Row>(
  db: DatabaseSync,
  sql: string,
  ...values: SQLInputValue[]
): Row | undefined {
  return statement(db, sql).get(...values) as unknown as Row | undefined;
}

/** Returns all rows of a query; their columns are trusted to be those of `Row`. */
export function allRows<Row>(db: DatabaseSync, sql: string, ...values: SQLInputValue[]): Row[] {
  return statement(db, sql).all(...values) as unknown as Row[];
}

/** Runs a statement. @returns the number of rows it changed. */
export function execute(db: DatabaseSync, sql: string, ...values: SQLInputValue[]): number {
  return Number(statement(db, sql).run(...values).changes);
}

/** Inserts one row; the keys of `row` are its columns. */
export function insertRow(
  db: DatabaseSync,
  table: string,
  row: Readonly<Record<string, SQLInputValue>>,
): void {
  const columns = Object.keys(row);
  const marks = columns.map(() => "?").join(", ");
  const sql = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`;
  statement(db, sql).run(...Object.values(row));
}

/** Sets the columns named by the keys of `changes` in the row with this `id`. */
export function updateRow(
  db: DatabaseSync,
  table: string,
  id: string,
  changes: Readonly<Record<string, SQLInputValue>>,
): void {
  const columns = Object.keys(changes);
  if (columns.length === 0) return;
  const sql = `UPDATE ${table} SET ${columns.map((name) => `${name} = ?`).join(", ")} WHERE id = ?`;
  statement(db, sql).run(...Object.values(changes), id);
}

/** Returns one page of a list, and the list's total count. */
export function pageOfRows<Row>(
  db: DatabaseSync,
  query: {
    table: string;
    where: readonly string[];
    values: readonly SQLInputValue[];
    orderBy: string;
  },
  paging: { page: number; pageSize: number },
): { rows: Row[]; totalCount: number } {
  const from = `FROM ${query.table} WHERE ${query.where.join(" AND ")}`;
  const count = getRow<{ n: number }>(db, `SELECT count(*) AS n ${from}`, ...query.values);
  const rows = allRows<Row>(
    db,
    `SELECT * ${from} ORDER BY ${query.orderBy} LIMIT ? OFFSET ?`,
    ...query.values,
    paging.pageSize,
    (paging.page - 1) * paging.pageSize,
  );
  return { rows, totalCount: count?.n ?? 0 };
}

/**
 * Returns one page of a list whose filters are optional.
 *
 * @param query.filters conditions with one placeholder each; a condition whose value is undefined
 * is left out.
 */
export function filteredPage<Row>(
  db: DatabaseSync,
  query: {
    table: string;
    filters: readonly (readonly [condition: string, value: SQLInputValue | undefined])[];
    orderBy: string;
  },
  paging: { page: number; pageSize: number },
): { rows: Row[]; totalCount: number } {
  const where: string[] = [];
  const values: SQLInputValue[] = [];
  for (const [condition, value] of query.filters) {
    if (value === undefined) continue;
    where.push(condition);
    values.push(value);
  }
  return pageOfRows(db, { table: query.table, where, values, orderBy: query.orderBy }, paging);
}

/** Empties every table except those in `kept`. */
export function emptyTables(db: DatabaseSync, kept: readonly string[]): void {
  const tables = allRows<{ name: string }>(
    db,
    // The tables behind a search index can't be emptied one by one.
    "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite_%'",
  );
  for (const { name } of tables) {
    if (!kept.includes(name)) db.exec(`DELETE FROM "${name}"`);
  }
}
