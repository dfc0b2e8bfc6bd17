import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import { expect, inject, onTestFinished } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../../src/store/open.ts";
import { newDatabase } from "../support/postgres.ts";

const run = promisify(execFile);

/** Makes a folder that is deleted after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "payrun-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns the URL of a place without a store yet, in the database that the test project uses. */
export async function emptyPlace(): Promise<string> {
  return inject("postgres") === undefined
    ? `sqlite:${join(temporaryFolder(), "payrun.db")}`
    : newDatabase("empty");
}

/** Opens a store in a file or database of its own. */
export async function testStore(): Promise<{ store: Store; url: string }> {
  const url = inject("postgres") === undefined ? await emptyPlace() : await newDatabase("store");
  const store = await openStore(url);
  onTestFinished(() => store.close());
  return { store, url };
}

/** Runs a file of `children` as a process of its own; resolves with what it printed, as JSON. */
export async function child(name: string, args: readonly string[]): Promise<unknown> {
  const file = join(import.meta.dirname, "children", `${name}.ts`);
  const { stdout } = await run(process.execPath, [file, ...args], { timeout: 50_000 });
  return JSON.parse(stdout) as unknown;
}

/** Makes a payable for which a request may still take effect, as far as other tables see it. */
export async function openSubjectOn(store: Store, payableId: string, owner = "run"): Promise<void> {
  const row = { business_id: "biz_1", subject: payableId, operation: "pay", owner, since_ms: 1 };
  await store.db.insertInto("open_subjects").values(row).execute();
}

export async function closeSubjectOn(store: Store, payableId: string): Promise<void> {
  await store.db.deleteFrom("open_subjects").where("subject", "=", payableId).execute();
}

/** Does what the store itself refuses, as the database's owner can. */
export async function tamper(store: Store, statement: string): Promise<void> {
  await expect(sql.raw(statement).execute(store.db)).rejects.toThrow(/only grows/);
  if (inject("postgres") === undefined) {
    for (const act of ["update", "delete"]) {
      await sql.raw(`drop trigger audit_no_${act}`).execute(store.db);
    }
  } else {
    for (const trigger of ["audit_only_grows", "audit_never_emptied"]) {
      await sql.raw(`alter table audit disable trigger ${trigger}`).execute(store.db);
    }
  }
  await sql.raw(statement).execute(store.db);
}
