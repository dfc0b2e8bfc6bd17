import pg from "pg";

const INT8 = pg.types.builtins.INT8;
const NUMERIC = pg.types.builtins.NUMERIC;

/** The name of our connections, before the number of their process. */
export const APPLICATION = "payrun";

export const CONNECT_TIMEOUT_MS = 10_000;
/** No connection outlives a change of server, address or pooler by more than this. */
const LONGEST_LIFE_SECONDS = 300;

/**
 * Returns a pool whose connections return integers as numbers, as SQLite's do: instants in
 * milliseconds, amounts in cents and their sums are all within 2^53, and what isn't throws.
 *
 * Nothing but the name is set when a connection is opened: poolers refuse what they don't know.
 */
export function makePool(
  url: string,
  options: {
    readonly max: number;
    /** How long a statement's answer is awaited before its connection counts as lost. */
    readonly answerMs: number;
  },
): pg.Pool {
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, wholeNumber);
  types.setTypeParser(NUMERIC, wholeNumber);
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max,
    maxLifetimeSeconds: LONGEST_LIFE_SECONDS,
    types,
    keepAlive: true,
    // A single statement is sent with the beginning and the end of its transaction, in one go.
    pipeline: true,
    application_name: `${APPLICATION} ${process.pid}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: options.answerMs,
  });
  // A connection that dies while idle is replaced when one is needed.
  pool.on("error", ignore);
  // The statement that fails reports that a connection in use has ended. It may end before its
  // taker could listen: its server's greeting and farewell can come in one piece.
  pool.on("connect", (client) => client.on("error", ignore));
  return pool;
}

const ignore = (): void => undefined;

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`The store holds ${text}, which is out of the range of exact numbers.`);
  }
  return value;
}
