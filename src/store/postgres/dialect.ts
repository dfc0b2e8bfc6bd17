import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import type pg from "pg";

/** What to do at the beginning of a transaction, and before its end. */
export interface TransactionHooks {
  /** Statements in one text, `begin` among them; run before anything else of the transaction. */
  readonly begin: () => string;
  /** Called on the transaction's connection once it has begun; may throw to end it. */
  readonly begun: (client: pg.PoolClient) => Promise<void>;
  /**
   * Called before COMMIT is sent: from then on, a lost connection says nothing about the outcome.
   */
  readonly committing: () => void;
}

export interface PostgresConfig {
  readonly pool: pg.Pool;
  readonly hooks: TransactionHooks;
  /** Runs a single statement, and runs it again if its connection was lost. */
  readonly single: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Returns Kysely's PostgreSQL dialect over a pool; connections are taken only while they are used.
 */
export function poolDialect(config: PostgresConfig): Dialect {
  return {
    createDriver: () => driverOf(config),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

function driverOf(config: PostgresConfig): Driver {
  return {
    init: async () => undefined,
    acquireConnection: async () => new PoolConnection(config),
    beginTransaction: (connection: PoolConnection) => connection.begin(),
    commitTransaction: (connection: PoolConnection) => connection.commit(),
    rollbackTransaction: (connection: PoolConnection) => connection.rollback(),
    releaseConnection: async (connection: PoolConnection) => connection.release(),
    destroy: () => config.pool.end(),
  };
}

class PoolConnection implements DatabaseConnection {
  readonly #config: PostgresConfig;
  /** Set only within a transaction. */
  #client: pg.PoolClient | undefined;
  #broken = false;

  constructor(config: PostgresConfig) {
    this.#config = config;
  }

  async begin(): Promise<void> {
    const { pool, hooks } = this.#config;
    this.#client = await pool.connect();
    // While the connection is ours, the statement that fails reports that it has ended.
    this.#client.on("error", ignore);
    try {
      await this.#client.query(hooks.begin());
      await hooks.begun(this.#client);
    } catch (error) {
      await this.rollback();
      throw error;
    }
  }

  async commit(): Promise<void> {
    this.#config.hooks.committing();
    const result = await this.#client?.query("commit");
    // A statement that failed unnoticed has undone the transaction, and COMMIT ends it without an
    // error.
    if (result?.command === "ROLLBACK") {
      throw new Error("a statement of the transaction failed, so nothing of it was kept");
    }
  }

  async rollback(): Promise<void> {
    try {
      await this.#client?.query("rollback");
    } catch {
      // The error that led here says why; the server undoes what a dead connection began.
      this.#broken = true;
    }
  }

  release(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client === undefined) return;
    client.off("error", ignore);
    client.release(this.#broken);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const values = query.parameters.map(bindable);
    const client = this.#client;
    const result =
      client === undefined
        ? await this.#config.single(() => this.#config.pool.query(query.sql, values))
        : await client.query(query.sql, values);
    const { command, rowCount, rows } = result;
    if (!["INSERT", "UPDATE", "DELETE"].includes(command)) return { rows: rows as R[] };
    return { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) };
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("the store reads by page");
  }
}

const ignore = (): void => undefined;

/**
 * Checks what kysely hands over, as SQLite's dialect does, and fits it to PostgreSQL: an instant of
 * a fast sandbox clock may have a fraction, which its integer columns refuse, and texts may hold
 * no NUL.
 */
function bindable(value: unknown): unknown {
  if (typeof value === "number") return Math.floor(value);
  if (typeof value === "string") return value.replaceAll("\0", "\uFFFD");
  if (value === null || ["bigint", "boolean"].includes(typeof value)) return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`The store can't keep a value of type ${typeof value}.`);
}
