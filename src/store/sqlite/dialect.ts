import type { SQLInputValue } from "node:sqlite";
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
import type { Connection } from "./connection.ts";

export interface NodeSqliteConfig {
  readonly connection: Connection;
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
  readonly #config: NodeSqliteConfig;
  readonly #connection: NodeSqliteConnection;

  constructor(config: NodeSqliteConfig) {
    this.#config = config;
    this.#connection = new NodeSqliteConnection(config);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    await this.#config.connection.begin(this.#config.mustFlush());
  }

  async commitTransaction(): Promise<void> {
    await this.#config.connection.commit();
  }

  async rollbackTransaction(): Promise<void> {
    await this.#config.connection.rollback();
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    await this.#config.connection.close();
  }
}

class NodeSqliteConnection implements DatabaseConnection {
  readonly #config: NodeSqliteConfig;

  constructor(config: NodeSqliteConfig) {
    this.#config = config;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { connection, path, busyLimitMs } = this.#config;
    const parameters = bindable(query.parameters);
    const run = () => connection.run(query.sql, parameters);
    // Inside a transaction waiting can't help: the whole transaction has to be run again.
    const { rows, written } = connection.inTransaction
      ? await run()
      : await retryWhileBusy(run, path, busyLimitMs);
    return {
      rows: rows as R[],
      ...(written && { numAffectedRows: written.changes, insertId: written.insertId }),
    };
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("the store reads by page");
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
