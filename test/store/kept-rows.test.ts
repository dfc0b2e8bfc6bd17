import { sql } from "kysely";
import { expect, inject, test } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { postgresDdl } from "../../src/store/postgres/ddl.ts";
import { tableStatements } from "../../src/store/schema/ddl.ts";
import {
  growing,
  integer,
  integerOrNull,
  text,
  textOrNull,
  writtenOnce,
} from "../../src/store/schema/table.ts";
import { sqliteDdl } from "../../src/store/sqlite/ddl.ts";
import { testStore } from "./support.ts";

const isSqlite = inject("postgres") === undefined;
const ddl = isSqlite ? sqliteDdl : postgresDdl;

const facts = growing(["fact_id"], { fact_id: text, token: text, fact: textOrNull });

/** Defines a table whose named columns are written once. */
const asked = (...columns: ("result" | "answer" | "open")[]) =>
  writtenOnce({ column: "result", open: "pending", columns }, ["send_id"], {
    ...{ send_id: text, token: text, leave_by_ms: integer, note: textOrNull, result: text },
    ...{ answer: textOrNull, open: integerOrNull },
  });

async function storeWith(statements: readonly string[]): Promise<Store> {
  const { store } = await testStore();
  await run(store, ...statements.map((statement) => ddl.adapt(statement)));
  return store;
}

async function run(store: Store, ...statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(store.db);
}

/** Expects each statement to be refused in these words, and all rows to stay as they were. */
async function refuses(
  store: Store,
  table: string,
  words: string,
  statements: readonly string[],
): Promise<void> {
  const rows = async () =>
    (await sql`select * from ${sql.table(table)} order by 1`.execute(store.db)).rows;
  const before = await rows();
  for (const statement of statements) {
    await expect(run(store, statement), statement).rejects.toThrow(words);
    expect(await rows(), statement).toEqual(before);
  }
}

test("a table that only grows takes new rows, and refuses any change, deletion or replacement", async () => {
  const store = await storeWith([
    ...tableStatements("facts", facts, ddl),
    "create unique index facts_by_token on facts (token)",
    "insert into facts values ('one', 't1', 'sent'), ('two', 't2', null)",
  ]);
  await refuses(store, "facts", "facts only grows: update refused", [
    "update facts set fact = 'forged'",
    "update facts set fact = fact where fact_id = 'one'",
    "insert into facts values ('one', 't3', 'x') on conflict (fact_id) do update set fact = 'x'",
  ]);
  await refuses(store, "facts", "facts only grows: delete refused", [
    "delete from facts where fact_id = 'one'",
    "delete from facts",
    ...(isSqlite
      ? [
          "replace into facts values ('one', 't3', 'forged')",
          "insert or replace into facts values ('three', 't1', 'forged')",
          "insert or replace into facts (rowid, fact_id, token) values (1, 'three', 't3')",
        ]
      : []),
  ]);
  if (!isSqlite) {
    await refuses(store, "facts", "facts only grows: truncate refused", [
      "truncate facts",
      "truncate claims, facts cascade",
    ]);
  }
  await run(store, "insert into facts values ('three', 't3', null)");
});

test("a row that is written once takes its result while it is open, and no other afterwards", async () => {
  const store = await storeWith([
    ...tableStatements("asked", asked("result", "answer", "open"), ddl),
    "create unique index asked_by_token on asked (token)",
    `insert into asked values ('one', 't1', 1, null, 'pending', null, null),
       ('two', 't2', 2, 'a note', 'pending', null, null)`,
  ]);
  const open = [
    "send_id = 'x'",
    "token = 'x'",
    "leave_by_ms = leave_by_ms + 1",
    "note = 'x'",
    "result = 'accepted', note = 'x'",
  ].map((change) => `update asked set ${change} where send_id = 'one'`);
  const upsert = (change: string) =>
    `insert into asked values ('one', 't3', 1, null, 'pending', null, null)
       on conflict (send_id) do update set ${change}`;
  await refuses(store, "asked", "asked is written once: update refused", [
    ...open,
    "update asked set note = null where send_id = 'two'",
    "update asked set answer = 'x', leave_by_ms = 9",
    upsert("token = excluded.token"),
  ]);

  await run(
    store,
    // A column that keeps its value may be named: a statement about a page names whole rows.
    "update asked set result = 'accepted', answer = '201', open = 0, note = note, token = 't1' where send_id = 'one'",
    "update asked set answer = 'so far' where send_id = 'two'",
    "update asked set result = 'not-sent' where send_id = 'two'",
  );

  await refuses(store, "asked", "asked is written once: update refused", [
    "update asked set result = 'pending' where send_id = 'one'",
    "update asked set result = 'refused'",
    "update asked set answer = null where send_id = 'one'",
    "update asked set answer = answer where send_id = 'one'",
    upsert("answer = 'x'"),
  ]);
  await refuses(store, "asked", "asked only grows: delete refused", [
    "delete from asked",
    "delete from asked where result = 'not-sent'",
    ...(isSqlite
      ? [
          "replace into asked values ('one', 't9', 1, null, 'pending', null, null)",
          "insert or replace into asked values ('three', 't2', 1, null, 'pending', null, null)",
          "insert or replace into asked (rowid, send_id, token, leave_by_ms, result) values (2, 'three', 't9', 1, 'pending')",
        ]
      : []),
  ]);
  if (!isSqlite) {
    await refuses(store, "asked", "asked only grows: truncate refused", ["truncate asked"]);
  }
});

test("a result that would take another row's place is refused", async () => {
  const store = await storeWith([
    ...tableStatements("asked", asked("result", "answer"), ddl),
    "create unique index sends_by_answer on asked (answer)",
    `insert into asked values ('one', 't1', 1, null, 'accepted', '201', null),
       ('two', 't2', 2, null, 'pending', null, null)`,
  ]);
  const statement = `update ${isSqlite ? "or replace " : ""}asked set answer = '201' where send_id = 'two'`;
  const words = isSqlite ? "asked only grows: delete refused" : "unique";
  await refuses(store, "asked", words, [statement]);
});
