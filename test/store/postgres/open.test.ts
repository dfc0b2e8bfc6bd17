import pg from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { StoreError } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { newDatabase } from "../../support/postgres.ts";

const PASSWORD_WORDS = /p@ss|p%40ss|wr0ng/;

async function refusal(url: string, mustExist = false): Promise<StoreError> {
  const error: unknown = await openStore(url, { mustExist, busyLimitMs: 500 }).then(
    (store) => store.close(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect((error as StoreError).message).not.toMatch(PASSWORD_WORDS);
  expect((error as StoreError).message).not.toContain("\n");
  return error as StoreError;
}

async function changed(change: (url: URL) => void): Promise<string> {
  const url = new URL(await newDatabase("store"));
  change(url);
  return url.href;
}

async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

test("the error for an unreachable server names its address and the way out", async () => {
  const error = await refusal(await changed((url) => (url.port = "1")));
  expect(error.code).toBe("unreachable");
  expect(error.message).toMatch(/127\.0\.0\.1:1.*nothing listens there.*Start it/);
});

test("the error for a host that doesn't exist names the host", async () => {
  const error = await refusal(await changed((url) => (url.hostname = "no-such-host.invalid")));
  expect(error.code).toBe("unreachable");
  expect(error.message).toContain("no-such-host.invalid");
});

test("the error for a wrong password doesn't show the password", async () => {
  const error = await refusal(await changed((url) => (url.password = "wr0ng")));
  expect(error.code).toBe("refused");
  expect(error.message).toMatch(/check user and password/);
});

test("the error for a database that doesn't exist says how to create it", async () => {
  const error = await refusal(await changed((url) => (url.pathname = "/nowhere")));
  expect(error.code).toBe("missing");
  expect(error.message).toContain("createdb nowhere");
});

test("the error for an unreadable address doesn't show the address", async () => {
  const error = await refusal("postgres://user:p@ss:word@[/db");
  expect(error.code).toBe("unsupported");
});

test("an address of several hosts is refused before anything is tried", async () => {
  const error = await refusal("postgres://payrun:p@ss,word@db1.example:5432,db2.example:5432/db");
  expect(error.code).toBe("unsupported");
  expect(error.message).toContain("must name one host");
});

test("another program's database is refused and left unchanged", async () => {
  const url = await newDatabase("empty");
  await run(url, "create table letters (text text)");
  const error = await refusal(url);
  expect(error.code).toBe("foreign");
  expect(error.message).toContain('"letters"');
  await run(url, "drop table letters");
  expect((await refusal(url, true)).code).toBe("missing");
});

test("the error for a user who may not create tables says who creates a store", async () => {
  const url = await newDatabase("empty");
  const name = new URL(url).pathname.slice(1);
  await run(url, `create role ${name}_guest login password 'wr0ng'`);
  onTestFinished(() => run(inject("postgres")?.adminUrl ?? "", `drop role ${name}_guest`));
  await run(url, "revoke create on schema public from public");
  const guest = new URL(url);
  guest.username = `${name}_guest`;
  guest.password = "wr0ng";
  const error = await refusal(guest.href);
  expect(error.code).toBe("refused");
  expect(error.message).toMatch(/permission denied.*A store is made by the database's owner/);
});

test("the error for a role that may not read a table says that the role is the cause", async () => {
  const url = await newDatabase("store");
  const owner = await openStore(url);
  onTestFinished(() => owner.close());
  const name = `${new URL(url).pathname.slice(1)}_reader`;
  await run(url, `create role ${name} login password 'wr0ng'`);
  onTestFinished(async () => {
    await run(url, `drop owned by ${name}`);
    await run(inject("postgres")?.adminUrl ?? "", `drop role ${name}`);
  });
  await run(url, `grant select on all tables in schema public to ${name}`);
  await run(url, `revoke select on tokens from ${name}`);
  const reader = new URL(url);
  reader.username = name;
  reader.password = "wr0ng";
  const store = await openStore(reader.href, { mustExist: true });
  onTestFinished(() => store.close());
  await expect(store.db.selectFrom("tokens").selectAll().execute()).rejects.toMatchObject({
    code: "refused",
    message: expect.stringMatching(/table tokens\. Its role may not do this/),
  });
});

test("a write fails with a clear error if another process keeps the lock, and reads go on", async () => {
  const url = await newDatabase("store");
  const patient = await openStore(url);
  const impatient = await openStore(url, { busyLimitMs: 200 });
  onTestFinished(async () => {
    await patient.close();
    await impatient.close();
  });
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const holding = patient.transaction(async () => {
    begin();
    await finished;
  });
  await begun;
  const write = impatient.transactionOf("biz_1", (trx) => trx.deleteFrom("claims").execute());
  await expect(write).rejects.toMatchObject({ code: "locked" });
  expect(await impatient.db.selectFrom("claims").selectAll().execute()).toEqual([]);
  finish();
  await holding;
  await impatient.transactionOf("biz_1", (trx) => trx.deleteFrom("claims").execute());
});

test("a store opens at most as many connections as its pool allows", async () => {
  const url = await newDatabase("store");
  const store = await openStore(url, { poolSize: 3 });
  onTestFinished(() => store.close());
  const work = Array.from({ length: 40 }, (_, index) =>
    index % 2 === 0
      ? store.transactionOf(`biz_${index}`, (trx) => trx.selectFrom("claims").selectAll().execute())
      : store.db.selectFrom("claims").selectAll().execute(),
  );
  await Promise.all(work);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    "select 1 from pg_stat_activity where datname = current_database() and application_name like 'payrun%'",
  );
  await client.end();
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.length).toBeLessThanOrEqual(3);
});
