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
import { isSessionOver } from "./errors.ts";
import type { Sessions } from "./sessions.ts";

/** What to do at the beginning of a transaction, and before its end. */
export interface TransactionHooks {
  /** Statements that are sent with the beginning, before anything else of the transaction. */
  readonly begin: () => readonly string[];
  /** Called on the transaction's connection once it has begun; may throw to end it. */
  readonly begun: (client: pg.PoolClient) => Promise<void>;
  /**
   * Called before COMMIT is sent: from then on, a lost connection says nothing about the outcome.
   */
  readonly committing: () => void;
}

export interface PostgresConfig {
  readonly sessions: Sessions;
  /** Statements that begin every transaction, single statements included. */
  readonly beginning: readonly string[];
  readonly hooks: TransactionHooks;
  /** Runs a single statement, and may run it again if its session is of no use. */
  readonly single: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Returns Kysely's PostgreSQL dialect over a pool's sessions; they are taken only while they are used.
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
    releaseConnection: (connection: PoolConnection) => connection.release(),
    destroy: () => config.sessions.close(),
  };
}

class PoolConnection implements DatabaseConnection {
  readonly #config: PostgresConfig;
  /** Set only within a transaction. */
  #client: pg.PoolClient | undefined;
  /** What ended the use of the client. */
  #fault: unknown;

  constructor(config: PostgresConfig) {
    this.#config = config;
  }

  async begin(): Promise<void> {
    const { sessions, beginning, hooks } = this.#config;
    const client = await sessions.take();
    this.#client = client;
    try {
      await this.#run(client, [...beginning, ...hooks.begin()].join("; "));
      await hooks.begun(client);
    } catch (error) {
      await this.rollback();
      throw error;
    }
  }

  async commit(): Promise<void> {
    this.#config.hooks.committing();
    if (this.#client !== undefined) refuseUndone(await this.#run(this.#client, "commit"));
  }

  async rollback(): Promise<void> {
    // The server undoes what a session began that is over. One that takes no writes is left within
    // its transaction.
    if (this.#client === undefined || isSessionOver(this.#fault)) return;
    try {
      await this.#run(this.#client, "rollback");
    } catch {
      // The error that led here says why.
    }
  }

  async release(): Promise<void> {
    const client = this.#client;
    const fault = this.#fault;
    this.#client = undefined;
    this.#fault = undefined;
    if (client !== undefined) await this.#config.sessions.giveBack(client, fault);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const values = query.parameters.map(bindable);
    const client = this.#client;
    const result =
      client === undefined
        ? await this.#config.single(() => runAlone(this.#config, query.sql, values))
        : await this.#run(client, query.sql, values);
    const { command, rowCount, rows } = result;
    if (!["INSERT", "UPDATE", "DELETE"].includes(command)) return { rows: rows as R[] };
    return { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) };
  }

  async #run(
    client: pg.PoolClient,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<pg.QueryResult> {
    try {
      return await client.query(text, [...values]);
    } catch (error) {
      if (!isSessionOver(this.#fault)) this.#fault = error;
      throw error;
    }
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("the store reads by page");
  }
}

/** Runs one statement in a transaction of its own, in one round trip. */
export async function runAlone(
  { sessions, beginning }: Pick<PostgresConfig, "sessions" | "beginning">,
  text: string,
  values: readonly unknown[] = [],
): Promise<pg.QueryResult> {
  const client = await sessions.take();
  const sent = await Promise.allSettled([
    client.query(beginning.join("; ")),
    client.query(text, [...values]),
    client.query("end"),
  ]);
  const failed = sent.find((each) => each.status === "rejected");
  await sessions.giveBack(client, failed?.reason);
  if (failed !== undefined) throw failed.reason;
  const [, result, committed] = sent;
  if (result.status === "rejected" || committed.status === "rejected") throw new Error(NOT_KEPT);
  refuseUndone(committed.value);
  return result.value;
}

const NOT_KEPT = "a statement of the transaction failed, so nothing of it was kept";

/**
 * Refuses a COMMIT that kept nothing: a statement that failed unnoticed has undone the transaction,
 * and COMMIT ends it without an error.
 */
function refuseUndone({ command }: pg.QueryResult): void {
  if (command === "ROLLBACK") throw new Error(NOT_KEPT);
}

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
