import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { expect, test } from "vitest";
import { openStore, type Store } from "../../src/store/index.ts";
import { firstTables } from "../../src/store/migrations/0001-first-tables.ts";
import type { DdlDialect } from "../../src/store/migrations/ddl.ts";
import { postgresDdl } from "../../src/store/postgres/ddl.ts";
import { sqliteDdl } from "../../src/store/sqlite/ddl.ts";
import { child, emptyPlace, testStore } from "./support.ts";

const CLAIM = { business_id: "biz_1", payable_id: "pay_1", owner: "run", claimed_at_ms: 7 };

/** A store as the first version of its schema made it, with a claim in it. */
async function oldStore(): Promise<string> {
  const url = await emptyPlace();
  if (url.startsWith("sqlite:")) {
    const file = new DatabaseSync(url.slice("sqlite:".length));
    for (const statement of statementsOf(sqliteDdl)) file.exec(statement);
    file.close();
    return url;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statementsOf(postgresDdl)) await client.query(statement);
  await client.end();
  return url;
}

function statementsOf(ddl: DdlDialect): string[] {
  return [
    ...ddl.ownTables,
    `create table payrun_migrations (
      version bigint primary key not null, name text not null, applied_at_ms bigint not null
    )`,
    "insert into payrun_migrations values (0, 'payrun', 1), (1, 'first tables', 1)",
    ...firstTables(ddl).map((statement) => ddl.adapt(statement)),
    `insert into audit (business_id, at_ms, actor, action, subject, details, prev_hash, hash)
       values ('biz_1', 1, 'a', 'noted', 's', '{}', 'p', 'h1'),
         ('biz_1', 2, 'a', 'noted', 's', '{}', 'h1', 'h2'),
         ('biz_2', 3, 'a', 'noted', 's', '{}', 'p', 'h3')`,
    "insert into claims (business_id, payable_id, owner, claimed_at_ms) values ('biz_1', 'pay_1', 'run', 7)",
  ];
}

async function columnsOf(store: Store): Promise<string[]> {
  const tables = await store.db.introspection.getTables();
  return tables
    .flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`))
    .toSorted();
}

test("an old store is brought to the newest version, once, by processes that start together", async () => {
  const url = await oldStore();
  const versions = await Promise.all([1, 2, 3].map(() => child("open", [url])));
  const { store: fresh, url: freshUrl } = await testStore();
  const newest = await child("open", [freshUrl]);
  expect(versions).toEqual([newest, newest, newest]);

  const store = await openStore(url, { mustExist: true });
  try {
    expect(await columnsOf(store)).toEqual(await columnsOf(fresh));
    expect(await store.db.selectFrom("claims").selectAll().execute()).toEqual([CLAIM]);
    const ends = store.db.selectFrom("audit_ends").selectAll().orderBy("business_id");
    expect(await ends.execute()).toEqual([
      { business_id: "biz_1", entries: 2, hash: "h2" },
      { business_id: "biz_2", entries: 1, hash: "h3" },
    ]);
  } finally {
    await store.close();
  }
});
