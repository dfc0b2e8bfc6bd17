import { randomUUID } from "node:crypto";
import type { Kysely, Transaction } from "kysely";
import { HOUR_MS } from "../../contracts/durations.ts";
import type { TransactionOptions } from "../sql/store.ts";
import type { Tables } from "../schema/tables.ts";
import { again } from "./again.ts";
import { COMMITS_TABLE } from "./ddl.ts";
import type { TransactionHooks } from "./dialect.ts";
import { lockStatements } from "./locks.ts";

/** How long a mark is kept: longer than any transaction looks for it. */
const MARK_KEPT_MS = HOUR_MS;
const TRANSACTIONS_BETWEEN_CLEANINGS = 5_000;

type Asked = TransactionOptions & { readonly businessId?: string };

/** An earlier try of the same transaction turned out to have been committed. */
class AlreadyCommitted extends Error {
  override readonly name = "AlreadyCommitted";
}

/** One transaction through all its tries. */
export class Tries {
  readonly #options: Asked;
  /** Marks of tries whose COMMIT was sent but not answered. */
  readonly #unsure: string[] = [];
  #mark = "";

  constructor(options: Asked) {
    this.#options = options;
  }

  readonly hooks: TransactionHooks = {
    begin: () => {
      this.#mark = randomUUID();
      const { businessId, flush } = this.#options;
      return [
        ...(flush === false ? ["set local synchronous_commit = off"] : []),
        ...lockStatements(businessId),
        `insert into ${COMMITS_TABLE} (commit_id, at_ms) values ('${this.#mark}', ${Date.now()})`,
      ];
    },
    // The locks are ours now, so every earlier try has ended, one way or the other.
    begun: async (client) => {
      if (this.#unsure.length === 0) return;
      const { rowCount } = await client.query(
        `select 1 from ${COMMITS_TABLE} where commit_id = any($1::uuid[])`,
        [this.#unsure],
      );
      if (rowCount !== null && rowCount > 0) throw new AlreadyCommitted();
    },
    committing: () => {
      this.#unsure.push(this.#mark);
    },
  };

  async run<T>(
    base: Kysely<Tables>,
    fn: (trx: Transaction<Tables>) => Promise<T>,
    limitMs: number,
  ): Promise<T> {
    let last: { readonly value: T } | undefined;
    try {
      return await again(
        () =>
          base.transaction().execute(async (trx) => {
            const value = await fn(trx);
            last = { value };
            return value;
          }),
        limitMs,
      );
    } catch (error) {
      if (error instanceof AlreadyCommitted && last !== undefined) return last.value;
      throw error;
    }
  }
}

/** Queues the transactions of one process and business here, instead of each on a connection. */
export class TransactionQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const mine = (before ?? Promise.resolve()).then(work, work);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}

/** Deletes old marks now and then. */
export class MarkCleaner {
  readonly #run: (statement: string) => Promise<unknown>;
  #left = 0;

  constructor(run: (statement: string) => Promise<unknown>) {
    this.#run = run;
  }

  count(): void {
    this.#left -= 1;
    if (this.#left > 0) return;
    this.#left = TRANSACTIONS_BETWEEN_CLEANINGS;
    const before = Date.now() - MARK_KEPT_MS;
    // Best effort: the next cleaning deletes what this one leaves.
    this.#run(`delete from ${COMMITS_TABLE} where at_ms < ${before}`).catch(() => undefined);
  }
}
