import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

const CACHED_STATEMENTS = 300;

/**
 * False in SQLite before 3.51, which the first releases of Node 24 have. There, `json_each` yields
 * the same, but as texts that are parsed anew for each value: rows take three times as long.
 */
const HAS_JSONB_EACH =
  (process.versions.sqlite ?? "").localeCompare("3.51", "en", { numeric: true }) >= 0;

/** The result of a statement; `rows` is empty if the statement yields none. */
export interface StatementResult {
  readonly rows: readonly unknown[];
  /** Set for a write that yields no rows. */
  readonly written?: { readonly changes: bigint; readonly insertId: bigint };
}

/** The one connection of a process to its file, wherever it runs. */
export interface Connection {
  /** True between a `begin` that succeeded and the transaction's end. */
  readonly inTransaction: boolean;
  /** Takes the write lock. @param flush whether what is committed has to survive a power cut */
  begin(flush: boolean): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  run(sql: string, parameters: readonly SQLInputValue[]): Promise<StatementResult>;
  close(): Promise<void>;
}

interface Prepared {
  readonly statement: StatementSync;
  /** Yields rows: a select, or a write with `returning`. */
  readonly reads: boolean;
}

/** A connection in this thread: while SQLite works, nothing else does. */
export class FileConnection implements Connection {
  readonly #database: DatabaseSync;
  /** Least recently used first. */
  readonly #prepared = new Map<string, Prepared>();
  #flushes = true;

  /** @param nowMs the database's clock, as `payrun_now_ms()` returns it */
  constructor(database: DatabaseSync, nowMs: () => number = Date.now) {
    this.#database = database;
    // A bigint, because SQLite would take a number for one with a fraction.
    database.function("payrun_now_ms", () => BigInt(Math.floor(nowMs())));
    // Without it, REPLACE would delete the row in its way without firing the triggers that refuse
    // it.
    database.exec("pragma recursive_triggers = on");
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /**
   * Takes the write lock at once: a deferred transaction that reads first and writes later fails
   * as soon as another process has written in between, without a way to wait for it.
   */
  async begin(flush: boolean): Promise<void> {
    this.#setFlush(flush);
    try {
      this.#database.exec("BEGIN IMMEDIATE");
    } catch (error) {
      this.#setFlush(true);
      throw error;
    }
  }

  async commit(): Promise<void> {
    this.#database.exec("COMMIT");
    this.#setFlush(true);
  }

  async rollback(): Promise<void> {
    // SQLite ends the transaction by itself on some errors (disk full); a second ROLLBACK would
    // hide the error that explains it.
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    this.#setFlush(true);
  }

  async run(sql: string, parameters: readonly SQLInputValue[]): Promise<StatementResult> {
    const { statement, reads } = this.#prepare(sql);
    if (reads) return { rows: statement.all(...parameters) };
    const { changes, lastInsertRowid } = statement.run(...parameters);
    return { rows: [], written: { changes: BigInt(changes), insertId: BigInt(lastInsertRowid) } };
  }

  async close(): Promise<void> {
    this.#prepared.clear();
    this.#database.close();
  }

  #setFlush(flush: boolean): void {
    if (flush === this.#flushes) return;
    this.#database.exec(`PRAGMA synchronous = ${flush ? "FULL" : "NORMAL"}`);
    this.#flushes = flush;
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known !== undefined) {
      this.#prepared.delete(sql);
      this.#prepared.set(sql, known);
      return known;
    }
    const statement = this.#database.prepare(
      HAS_JSONB_EACH ? sql : sql.replaceAll("jsonb_each(", "json_each("),
    );
    const prepared = { statement, reads: statement.columns().length > 0 };
    this.#prepared.set(sql, prepared);
    if (this.#prepared.size > CACHED_STATEMENTS) {
      const oldest = this.#prepared.keys().next();
      if (!oldest.done) this.#prepared.delete(oldest.value);
    }
    return prepared;
  }
}
