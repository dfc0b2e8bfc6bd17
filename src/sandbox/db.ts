import { DatabaseSync, type StatementSync } from "node:sqlite";

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
 * Opens the sandbox's database and makes the tables of every feature.
 *
 * Write-ahead logging with `synchronous = NORMAL`: what was committed survives the death of the
 * process (not the loss of power, which a sandbox need not survive).
 *
 * @param path a file, or `:memory:`.
 * @param ddls statements that may run again (`CREATE TABLE IF NOT EXISTS`).
 */
export function openDatabase(path: string, ddls: readonly string[]): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;");
  for (const ddl of ddls) db.exec(ddl);
  return db;
}

/** The prepared statement of `sql`, prepared once per database. */
export function statement(db: DatabaseSync, sql: string): StatementSync {
  const { statements } = booksOf(db);
  let prepared = statements.get(sql);
  if (prepared === undefined) {
    prepared = db.prepare(sql);
    statements.set(sql, prepared);
  }
  return prepared;
}

/**
 * Runs `work` in one transaction: all of it is kept, or nothing when it throws.
 *
 * Inside another transaction it joins that one. `work` is synchronous, so that nothing else can
 * run between the parts of a request's effect.
 */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  if (db.isTransaction) return work();
  const books = booksOf(db);
  db.exec("BEGIN IMMEDIATE");
  let result: T;
  try {
    result = work();
    db.exec("COMMIT");
  } catch (error) {
    books.afterCommit.length = 0;
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
  for (const callback of books.afterCommit.splice(0)) callback();
  return result;
}

/**
 * Calls `callback` once the current transaction is committed, never when it is rolled back;
 * at once outside of a transaction.
 */
export function afterCommit(db: DatabaseSync, callback: () => void): void {
  if (db.isTransaction) booksOf(db).afterCommit.push(callback);
  else callback();
}
