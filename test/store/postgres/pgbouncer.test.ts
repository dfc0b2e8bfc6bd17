import { sql } from "kysely";
import pg from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { listAudit } from "../../../src/store/audit/audit.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { limitsOff } from "../../../src/store/postgres/limits.ts";
import { takeLease } from "../../../src/store/sql/leases.ts";
import { howItTakesWrites } from "../../../src/store/sql/small-write.ts";
import { findPgBouncer, startPgBouncer } from "../../support/pgbouncer.ts";
import { newDatabase } from "../../support/postgres.ts";
import { FailingOver, note } from "../../support/postgres-failover.ts";

const program = findPgBouncer();
if (program === undefined) {
  process.stderr.write("No PgBouncer: install one. Stores are tested without a pooler only.\n");
}

async function behindPooler(mode: "session" | "transaction") {
  const server = new FailingOver(await newDatabase("store"));
  const pooler = await startPgBouncer(program ?? "", inject("postgres")?.adminUrl ?? "", mode);
  onTestFinished(() => pooler.stop());
  return { server, url: pooler.urlOf(server.url) };
}

async function opened(url: string): Promise<Store> {
  const store = await openStore(url, { poolSize: 4 });
  onTestFinished(() => store.close());
  return store;
}

/** The numbers that were noted, the smallest first. */
const written = async (store: Store) =>
  (await listAudit(store.db, { businessId: "biz_1" }))
    .map(({ details }) => Number(details["n"]))
    .toSorted((a, b) => a - b);

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describe.runIf(program !== undefined).each(["session", "transaction"] as const)(
  "behind PgBouncer, which pools by %s,",
  (mode) => {
    test(`a store works as without it, under its limits (by ${mode})`, async () => {
      const { url } = await behindPooler(mode);
      const stores = [await opened(url), await opened(url)] as const;
      await Promise.all(numbers(40).map((n) => note(stores[n % 2 === 0 ? 0 : 1], n)));
      expect(await written(stores[0])).toEqual(numbers(40));
      for (const store of stores) {
        expect(await limitsOff(store.db)).toEqual([]);
        expect(await store.transaction(limitsOff)).toEqual([]);
      }
    });

    test(`what a store sets stays out of other clients' sessions (by ${mode})`, async () => {
      const { url } = await behindPooler(mode);
      const store = await opened(url);
      await Promise.all(numbers(20).map((n) => note(store, n)));
      const other = new pg.Client({ connectionString: url });
      await other.connect();
      const { rows } = await other.query("show lock_timeout");
      await other.end();
      expect(rows).toEqual([{ lock_timeout: "0" }]);
    });

    test(`writes go on after a failover, though the pooler keeps sessions of its own (by ${mode})`, async () => {
      const { server, url } = await behindPooler(mode);
      const store = await opened(url);
      await note(store, 0);
      await server.failOver();
      await expect.poll(() => howItTakesWrites(store)).toBe("read_only");
      await Promise.all(numbers(4).map(() => sql`select pg_sleep(0.1)`.execute(store.db)));
      const writes = Promise.all(numbers(6).map((n) => note(store, n + 1)));
      await server.recover();
      await writes;
      expect(await written(store)).toEqual(numbers(7));
      await expect.poll(() => howItTakesWrites(store)).toBe("ok");
    });

    test(`a single write goes on after a failover, too (by ${mode})`, async () => {
      const { server, url } = await behindPooler(mode);
      const store = await opened(url);
      await server.failOver();
      // As many sessions of the pooler's as the store may have.
      await Promise.all(numbers(4).map(() => sql`select pg_sleep(0.1)`.execute(store.db)));
      const write = takeLease(store.db, { name: "a", holder: "b" }, 60_000);
      await server.recover();
      expect(await write).toBe(true);
    });

    test(`a parameter of the address that it refuses is named at once (by ${mode})`, async () => {
      const { url } = await behindPooler(mode);
      const refused = openStore(`${url}?statement_timeout=1000`);
      await expect(refused).rejects.toMatchObject({
        code: "unsupported",
        message: expect.stringMatching(/pooler at .*unsupported startup parameter.*Take it out/),
      });
    });
  },
);
