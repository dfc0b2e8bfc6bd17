import type pg from "pg";
import { isReadOnly, isSessionOver } from "./errors.ts";

/**
 * The sessions of a pool. A session that turns out to be over, or to take no writes, is ended, and
 * so is every other one that was opened before: after a failover they all lead to the old server,
 * or keep its settings.
 */
export class Sessions {
  readonly #pool: pg.Pool;
  readonly #openedIn = new WeakMap<pg.PoolClient, number>();
  /** How often sessions turned out to take no writes. */
  #age = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async take(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await this.#pool.connect();
      const openedIn = this.#openedIn.get(client) ?? this.#age;
      this.#openedIn.set(client, openedIn);
      if (openedIn === this.#age) return client;
      client.release(true);
    }
  }

  /** @param error what the session's last work failed with, if it did */
  async giveBack(client: pg.PoolClient, error?: unknown): Promise<void> {
    if (isReadOnly(error)) {
      this.#age += 1;
      // A pooler would keep its own session to the server, unless we leave within a transaction.
      await client.query("begin").catch(() => undefined);
    }
    client.release(isSessionOver(error) || client.getTransactionStatus() !== "I");
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
