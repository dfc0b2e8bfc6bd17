import type { Kysely, Transaction } from "kysely";
import type { Tables } from "../schema/tables.ts";

/** A workflow that has not been told to look yet, though something was written that concerns it. */
export interface PendingSignal {
  readonly signalId: string;
  readonly workflowId: string;
}

export interface OpenStoreOptions {
  /** Refuse to make a new store. */
  readonly mustExist?: boolean;
  /**
   * How long to wait for another process's lock, or for a PostgreSQL server that has gone away; 30
   * s unless said.
   */
  readonly busyLimitMs?: number;
  /** PostgreSQL connections that this process uses at most; 10 unless said. */
  readonly poolSize?: number;
  /**
   * SQLite works in a thread of its own, so that a process that pays doesn't stand still while a
   * commit waits for the disk.
   */
  readonly ownThread?: boolean;
  /**
   * The database's clock, for a simulation: of SQLite only, and not in a thread of its own. This
   * machine's unless said.
   */
  readonly nowMs?: () => number;
}

export interface TransactionOptions {
  /**
   * False: survives the death of this process, but maybe not a power cut, and costs a tenth. Only
   * for what can be found out again, such as the results of requests under known keys.
   */
  readonly flush?: boolean;
}

/** A transaction as a kind of database runs it; without `businessId` everybody waits for it. */
export type RunTransaction = <T>(
  fn: (trx: Transaction<Tables>) => Promise<T>,
  options: TransactionOptions & { readonly businessId?: string },
) => Promise<T>;

export interface Store {
  /** For single statements outside transactions. */
  readonly db: Kysely<Tables>;
  /**
   * Runs `fn` in one write transaction: all of it is kept, once, or nothing where it throws.
   * Nobody else's transaction runs meanwhile, in any process.
   *
   * `fn` may run again when another process holds the lock or a connection was lost, and it holds
   * up other users of the store while it runs: await nothing but SQL on `trx` in it.
   *
   * @throws {StoreError} `locked` when the lock can't be had, `unreachable` where the server is
   * gone for too long
   */
  transaction<T>(
    fn: (trx: Transaction<Tables>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /**
   * The same for a transaction that reads and writes rows of one business only: in PostgreSQL,
   * those of other businesses don't wait for it.
   *
   * @param businessId the API's
   */
  transactionOf<T>(
    businessId: string,
    fn: (trx: Transaction<Tables>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /**
   * Has this process hear whom each of its transactions concerns, once that has committed.
   *
   * @returns lets it hear no more
   */
  afterCommit(tell: (pendingSignals: readonly PendingSignal[]) => void): () => void;
  close(): Promise<void>;
}
