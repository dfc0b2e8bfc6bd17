import pg from "pg";

const INT8 = pg.types.builtins.INT8;
const NUMERIC = pg.types.builtins.NUMERIC;

/** The name of our connections, before the number of their process. */
export const APPLICATION = "payrun";

export const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 60_000;
/** The longest that a process that froze within a transaction keeps others waiting. */
const IDLE_IN_TRANSACTION_MS = 10_000;

/**
 * Returns a pool whose connections return integers as numbers, as SQLite's do: instants in
 * milliseconds, amounts in cents and their sums are all within 2^53, and what isn't throws.
 */
export function makePool(
  url: string,
  options: {
    readonly max: number;
    readonly lockTimeoutMs: number;
  },
): pg.Pool {
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, wholeNumber);
  types.setTypeParser(NUMERIC, wholeNumber);
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max,
    types,
    keepAlive: true,
    application_name: `${APPLICATION} ${process.pid}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: Math.max(STATEMENT_TIMEOUT_MS, 2 * options.lockTimeoutMs),
    lock_timeout: options.lockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  });
  // A connection that dies while idle is replaced when one is needed.
  pool.on("error", () => undefined);
  return pool;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`The store holds ${text}, which is out of the range of exact numbers.`);
  }
  return value;
}
