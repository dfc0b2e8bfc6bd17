import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { retryWhileBusy } from "./busy.ts";

const CACHED_STATEMENTS = 300;

export interface NodeSqliteConfig {
  readonly database: DatabaseSync;
  /** Named in errors. */
  readonly path: string;
  /** How long a single statement waits for another process's write lock. */
  readonly busyLimitMs: number;
  /** Whether the transaction that begins has to survive a power cut. */
  readonly mustFlush: () => boolean;
}

/** Kysely's SQLite dialect over node:sqlite: no native add-on, no install script. */
export class NodeSqliteDialect implements Dialect {
  readonly #config: NodeSqliteConfig;

  constructor(config: NodeSqliteConfig) {
    this.#config = config;
  }

  createDriver(): Driver {
    return new NodeSqliteDriver(this.#config);
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler();
  }

  createAdapter(): SqliteAdapter {
    return new SqliteAdapter();
  }

  createIntrospector<T>(db: Kysely<T>): DatabaseIntrospector {
    return new SqliteIntrospector(db);
  }
}

class NodeSqliteDriver implements Driver {
  readonly #database: DatabaseSync;
  readonly #mustFlush: () => boolean;
  readonly #connection: NodeSqliteConnection;
  #flushes = true;

  constructor(config: NodeSqliteConfig) {
    this.#database = config.database;
    this.#mustFlush = config.mustFlush;
    this.#connection = new NodeSqliteConnection(config);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  /**
   * Takes the write lock at once: a deferred transaction that reads first and writes later fails
   * as soon as another process has written in between, without a way to wait for it.
   */
  async beginTransaction(): Promise<void> {
    this.#setFlush(this.#mustFlush());
    try {
      this.#database.exec("BEGIN IMMEDIATE");
    } catch (error) {
      this.#setFlush(true);
      throw error;
    }
  }

  async commitTransaction(): Promise<void> {
    this.#database.exec("COMMIT");
    this.#setFlush(true);
  }

  async rollbackTransaction(): Promise<void> {
    // SQLite ends the transaction by itself on some errors (disk full); a second ROLLBACK would
    // hide the error that explains it.
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    this.#setFlush(true);
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#connection.forget();
    this.#database.close();
  }

  #setFlush(flush: boolean): void {
    if (flush === this.#flushes) return;
    this.#database.exec(`PRAGMA synchronous = ${flush ? "FULL" : "NORMAL"}`);
    this.#flushes = flush;
  }
}

interface Prepared {
  readonly statement: StatementSync;
  /** Yields rows: a select, or a write with `returning`. */
  readonly reads: boolean;
}

class NodeSqliteConnection implements DatabaseConnection {
  readonly #config: NodeSqliteConfig;
  /** Least recently used first. */
  readonly #prepared = new Map<string, Prepared>();

  constructor(config: NodeSqliteConfig) {
    this.#config = config;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { database, path, busyLimitMs } = this.#config;
    // Inside a transaction waiting can't help: the whole transaction has to be run again.
    if (database.isTransaction) return this.#run<R>(query);
    return retryWhileBusy(() => this.#run<R>(query), path, busyLimitMs);
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    // Not from the cache: a statement that is being stepped can't run a second time.
    const statement = this.#config.database.prepare(query.sql);
    for (const row of statement.iterate(...bindable(query.parameters))) {
      yield { rows: [row as R] };
    }
  }

  forget(): void {
    this.#prepared.clear();
  }

  #run<R>(query: CompiledQuery): QueryResult<R> {
    const { statement, reads } = this.#prepare(query.sql);
    const parameters = bindable(query.parameters);
    if (reads) return { rows: statement.all(...parameters) as R[] };
    const { changes, lastInsertRowid } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known !== undefined) {
      this.#prepared.delete(sql);
      this.#prepared.set(sql, known);
      return known;
    }
    const statement = this.#config.database.prepare(sql);
    const prepared = { statement, reads: statement.columns().length > 0 };
    this.#prepared.set(sql, prepared);
    if (this.#prepared.size > CACHED_STATEMENTS) {
      const oldest = this.#prepared.keys().next();
      if (!oldest.done) this.#prepared.delete(oldest.value);
    }
    return prepared;
  }
}

/**
 * Checks what kysely hands over against what SQLite can keep.
 *
 * Integers beyond 2^53 go in as bigint; reading one back throws, because a rounded number would
 * be worse. Such values are kept as decimal text.
 */
function bindable(parameters: readonly unknown[]): SQLInputValue[] {
  for (const parameter of parameters) {
    if (!isBindable(parameter)) {
      throw new TypeError(`The store can't keep a value of type ${typeof parameter}.`);
    }
  }
  return parameters as SQLInputValue[];
}

function isBindable(value: unknown): value is SQLInputValue {
  return (
    value === null ||
    typeof value === "string" ||
    typeof value === "number" ||
    typeof value === "bigint" ||
    value instanceof Uint8Array
  );
}
