import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { sql, type Transaction } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { appendAudit, listAudit } from "../../../src/store/audit/audit.ts";
import { verifyTrail } from "../../../src/store/audit/audit-trail.ts";
import { copyStore } from "../../../src/store/copy/copy.ts";
import { CopyRefusedError } from "../../../src/store/copy/refused.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { newDatabase } from "../../support/postgres.ts";
import { approvedRun, lease } from "../approved-run.ts";
import { child, temporaryFolder } from "../support.ts";

type Rows = Record<string, Record<string, unknown>[]>;

interface AnyTables {
  [table: string]: Record<string, unknown>;
}

const OWN = ["payrun_schema", "payrun_commits"];
const FAR_MS = 10 ** 15;

const fileUrl = (): string => `sqlite:${join(temporaryFolder(), "payrun.db")}`;

async function withStore<T>(url: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function tablesOf(store: Store) {
  const tables = await store.db.introspection.getTables();
  return tables.filter(({ name }) => !OWN.includes(name));
}

/** Inserts rows into every table, whatever its columns are. */
async function fill(store: Store, rowsATable: number): Promise<void> {
  for (const { name, columns } of await tablesOf(store)) {
    // The database writes this table together with the trail.
    if (name === "audit_ends") continue;
    const rows = Array.from({ length: rowsATable }, (_, n) =>
      Object.fromEntries(
        columns.map(({ name: column, dataType, isNullable }) => [
          column,
          // A line that is leased now would keep its store from being copied.
          column === "lease_until_ms" ? n : valueOf(dataType, isNullable, n),
        ]),
      ),
    );
    await store.transaction(async (trx) => {
      const any = trx as unknown as Transaction<AnyTables>;
      for (const row of rows) await any.insertInto(name).values(row).execute();
    });
  }
}

function valueOf(dataType: string, isNullable: boolean, n: number): unknown {
  if (isNullable && n % 2 === 1) return null;
  if (/text/i.test(dataType)) return `“${n}” né\n\t🧾 'quoted' \\ ${String(n % 7)}`;
  // A number of more than 32 bits, and one that is valid for flags.
  return n === 0 ? FAR_MS : n;
}

async function rowsOf(url: string): Promise<Rows> {
  return withStore(url, async (store) => {
    const rows: Rows = {};
    for (const { name } of await tablesOf(store)) {
      const any = store.db.withTables<AnyTables>();
      const found = await any.selectFrom(name).selectAll().execute();
      rows[name] = found.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    }
    return rows;
  });
}

async function refusal(from: string, to: string): Promise<CopyRefusedError> {
  const error: unknown = await copyStore(from, to).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CopyRefusedError);
  return error as CopyRefusedError;
}

test("a store is copied from SQLite to PostgreSQL and back with every row of every table", async () => {
  const [first, second, third] = [fileUrl(), await newDatabase("empty"), fileUrl()];
  await withStore(first, (store) => fill(store, 5));
  const before = await rowsOf(first);
  expect(Object.values(before).every((rows) => rows.length === 5)).toBe(true);

  const there = await copyStore(first, second);
  expect(await rowsOf(second)).toEqual(before);
  expect(there).toEqual(Object.fromEntries(Object.keys(before).map((table) => [table, 5])));

  await copyStore(second, third);
  expect(await rowsOf(third)).toEqual(before);
  expect(await rowsOf(first)).toEqual(before);
});

test("a table of many pages is copied whole", async () => {
  const [from, to] = [fileUrl(), await newDatabase("store")];
  await withStore(from, async (store) => {
    const bills = Array.from({ length: 4_100 }, (_, n) => `pay_${n}`);
    await approvedRun(store, "weekly", bills);
  });
  const report = await copyStore(from, to);
  expect(report).toMatchObject({ run_lines: 4_100, plan_lines: 4_100, line_approvals: 4_100 });
  expect(await rowsOf(to)).toEqual(await rowsOf(from));
});

test("the audit trail goes on in the copy", async () => {
  const [from, to] = [fileUrl(), await newDatabase("empty")];
  const note = (store: Store) =>
    store.transaction((trx) =>
      appendAudit(trx, {
        businessId: "biz_1",
        nowMs: 1,
        actor: "lena",
        action: "noted",
        subject: "pay_1",
        details: {},
      }),
    );
  await withStore(from, async (store) => {
    await note(store);
    await note(store);
  });
  await copyStore(from, to);
  const trail = await withStore(to, async (store) => {
    await note(store);
    return listAudit(store.db, { businessId: "biz_1" });
  });
  expect(trail.map(({ auditId }) => auditId)).toEqual([1, 2, 3]);
  expect(trail[2]?.prevHash).toBe(trail[1]?.hash);
});

test("a cut-off end of the trail is found in the copy too", async () => {
  const [from, to] = [fileUrl(), await newDatabase("empty")];
  await withStore(from, async (store) => {
    for (const subject of ["pay_1", "pay_2"]) {
      const entry = { businessId: "biz_1", nowMs: 1, actor: "lena", action: "noted", subject };
      await store.transaction((trx) => appendAudit(trx, { ...entry, details: {} }));
    }
    await sql`drop trigger audit_no_delete`.execute(store.db);
    await sql`delete from audit where audit_id = 2`.execute(store.db);
  });
  await copyStore(from, to);
  const { problems } = await withStore(to, (store) => verifyTrail(store.db, "biz_1"));
  expect(problems).toMatchObject([{ kind: "cut-off", auditId: 1 }]);
});

test("nothing is copied into a store that isn't empty", async () => {
  const [from, to] = [fileUrl(), await newDatabase("store")];
  await withStore(from, (store) => fill(store, 1));
  await withStore(to, (store) => approvedRun(store, "monthly", []));
  const before = await rowsOf(to);
  const error: unknown = await copyStore(from, to).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "not_empty", message: expect.stringContaining("runs") });
  expect(await rowsOf(to)).toEqual(before);
  expect((await refusal(from, from)).code).toBe("same");
});

test.each(["sqlite", "postgres"])(
  "nothing is copied while lines of a store in %s are leased",
  async (kind) => {
    const from = kind === "sqlite" ? fileUrl() : await newDatabase("store");
    await withStore(from, async (store) => {
      const runId = await approvedRun(store, "weekly", ["pay_1"]);
      await lease(store, runId, { leaseMs: 60_000 });
    });
    const to = kind === "sqlite" ? await newDatabase("empty") : fileUrl();
    const error = await refusal(from, to);
    expect(error.code).toBe("leasing");
    expect(error.message).toContain("pay-run/acme/weekly/2026-11-05");
    await withStore(from, async (store) => {
      await store.db.updateTable("run_lines").set({ lease_until_ms: 1 }).execute();
    });
    await expect(copyStore(from, to)).resolves.toMatchObject({ run_lines: 1 });
  },
);

test("a copy waits for a store that is being closed", async () => {
  const from = await newDatabase("store");
  const store = await openStore(from);
  await store.db.selectFrom("runs").selectAll().execute();
  const copied = copyStore(from, fileUrl());
  const closed = sleep(500).then(() => store.close());
  await expect(copied).resolves.toMatchObject({ runs: 0 });
  await closed;
});

test.each(["sqlite", "postgres"])(
  "nothing is copied out of or into an open store in %s",
  async (kind) => {
    const used = kind === "sqlite" ? fileUrl() : await newDatabase("store");
    const store = await openStore(used);
    onTestFinished(() => store.close());
    await store.db.selectFrom("runs").selectAll().execute();
    const other = fileUrl();
    await withStore(other, () => Promise.resolve());
    expect((await refusal(used, fileUrl())).code).toBe("in_use");
    const error = await refusal(other, used);
    expect(error).toMatchObject({ code: "in_use", message: expect.stringContaining("--to") });
    // A process that has read and ended leaves nothing behind.
    expect(await child("open", [other])).toHaveLength(1);
    await expect(copyStore(other, fileUrl())).resolves.toMatchObject({ runs: 0 });
  },
);
