import pg from "pg";
import { inject } from "vitest";
import { appendAudit } from "../../src/store/audit/audit.ts";
import type { Store } from "../../src/store/index.ts";
import "./postgres-setup.ts";

/** A database on the shared server that can be made read-only, as a failover does. */
export class FailingOver {
  readonly url: string;
  readonly #name: string;

  constructor(url: string) {
    this.url = url;
    this.#name = new URL(url).pathname.slice(1);
  }

  /** Ends every session, and makes the next ones read-only. */
  async failOver(): Promise<void> {
    await asAdministrator(`alter database ${this.#name} set default_transaction_read_only = on`);
    await asAdministrator(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${this.#name}'`,
    );
  }

  /** Lets new sessions write; those that are open stay read-only. */
  async recover(): Promise<void> {
    await asAdministrator(`alter database ${this.#name} reset default_transaction_read_only`);
  }
}

async function asAdministrator(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject("postgres")?.adminUrl ?? "" });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Writes a number to the trail. */
export function note(store: Store, n: number): Promise<void> {
  return store.transactionOf("biz_1", (trx) =>
    appendAudit(trx, {
      ...{ businessId: "biz_1", nowMs: n, actor: "test", action: "counted", subject: "pay_1" },
      details: { n },
    }),
  );
}
