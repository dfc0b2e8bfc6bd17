import type { Kysely, Transaction } from "kysely";
import type { Tables } from "../schema/tables.ts";

/**
 * A signal that is still to be sent to a workflow, because something was written that concerns it.
 */
export interface PendingSignal {
  readonly signalId: string;
  readonly workflowId: string;
}

export interface OpenStoreOptions {
  /** Refuse to make a new store. */
  readonly mustExist?: boolean;
  /**
   * How long to wait for another process's lock, or for a PostgreSQL server that has gone away; 30
   * s by default.
   */
  readonly busyLimitMs?: number;
  /** The most PostgreSQL connections that this process uses; 10 by default. */
  readonly poolSize?: number;
  /**
   * Whether SQLite works in a thread of its own, so that a process that pays doesn't stand still
   * while a commit waits for the disk.
   */
  readonly ownThread?: boolean;
  /**
   * The database's clock for a simulation, by default this machine's. Only for SQLite, and not with
   * a thread of its own.
   */
  readonly nowMs?: () => number;
}

export interface TransactionOptions {
  /**
   * If false, the transaction survives the death of this process, but maybe not a power cut, and
   * costs a tenth. Only for what can be found out again, such as the results of requests under
   * known keys.
   */
  readonly flush?: boolean;
  /**
   * Which part of a request it carries out, if a request may have several transactions of one
   * business: a request that is repeated skips the parts that it has done.
   */
  readonly part?: string;
}

/** Runs a transaction on one kind of database; without `businessId`, all others wait for it. */
export type RunTransaction = <T>(
  fn: (trx: Transaction<Tables>) => Promise<T>,
  options: TransactionOptions & { readonly businessId?: string },
) => Promise<T>;

export interface Store {
  /** For single statements outside transactions. */
  readonly db: Kysely<Tables>;
  /**
   * Runs `fn` in one write transaction: either everything is committed, once, or nothing is if `fn`
   * throws. No other transaction runs meanwhile, in any process.
   *
   * `fn` may run again if another process holds the lock or a connection was lost, and it holds up
   * other users of the store while it runs: await nothing but SQL on `trx` in it.
   *
   * @throws {StoreError} `locked` if the lock can't be had, `unreachable` or `read_only` if the
   * server is gone, or takes no writes, for too long, `full`, `read_only` or `failing` at once if
   * the disk under it is
   */
  transaction<T>(
    fn: (trx: Transaction<Tables>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /**
   * Does the same for a transaction that reads and writes rows of one business only: in PostgreSQL,
   * transactions of other businesses don't wait for it.
   *
   * @param businessId the API's
   */
  transactionOf<T>(
    businessId: string,
    fn: (trx: Transaction<Tables>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /**
   * Calls `listener` with the pending signals that a transaction of this process has written, after it
   * has committed.
   *
   * @returns a function that removes the listener
   */
  afterCommit(listener: (pendingSignals: readonly PendingSignal[]) => void): () => void;
  /**
   * Commits one small write, to find out whether anything can be written. In PostgreSQL, it tries
   * only once.
   *
   * @throws {StoreError} if nothing can
   */
  tryToWrite(): Promise<void>;
  close(): Promise<void>;
}
