import type { SQLInputValue } from "node:sqlite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
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

/** Returns Kysely's SQLite dialect over node:sqlite: no native add-on, no install script. */
export function nodeSqliteDialect(config: NodeSqliteConfig): Dialect {
  return {
    createDriver: () => driverOf(config),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

function driverOf(config: NodeSqliteConfig): Driver {
  const { connection, mustFlush } = config;
  const only: DatabaseConnection = {
    executeQuery: <R>(query: CompiledQuery) => execute<R>(config, query),
    streamQuery: () => {
      throw new Error("the store reads by page");
    },
  };
  return {
    init: async () => undefined,
    acquireConnection: async () => only,
    beginTransaction: () => connection.begin(mustFlush()),
    commitTransaction: () => connection.commit(),
    rollbackTransaction: () => connection.rollback(),
    releaseConnection: async () => undefined,
    destroy: () => connection.close(),
  };
}

async function execute<R>(
  { connection, path, busyLimitMs }: NodeSqliteConfig,
  query: CompiledQuery,
): Promise<QueryResult<R>> {
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
