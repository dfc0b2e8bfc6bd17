import { copyFileSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { takeLease } from "../../../src/store/sql/leases.ts";
import { temporaryFolder } from "../support.ts";

/**
 * Opens a store whose last commit is only in its log, and makes a backup from before that commit.
 */
async function withBackup(): Promise<{ path: string; backup: string }> {
  const folder = temporaryFolder();
  const [path, backup] = [join(folder, "payrun.db"), join(folder, "backup.db")];
  await (await openStore(`sqlite:${path}`)).close();
  copyFileSync(path, backup);
  const store = await openStore(`sqlite:${path}`);
  onTestFinished(() => store.close());
  await takeLease(store.db, { name: "a", holder: "b" }, 1);
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
  return { path, backup };
}

async function leases(path: string): Promise<number> {
  const store: Store = await openStore(`sqlite:${path}`, { mustExist: true });
  const found = await store.db.selectFrom("leases").select("name").execute();
  await store.close();
  return found.length;
}

test("a restored file is refused while the old file's log lies beside it, and opens without the log", async () => {
  const { path, backup } = await withBackup();
  copyFileSync(backup, `${path}.new`);
  renameSync(`${path}.new`, path);
  const before = statSync(`${path}-wal`).size;
  await expect(leases(path)).rejects.toMatchObject({ name: "StoreError", code: "replaced" });
  await expect(leases(path)).rejects.toThrow(/delete payrun\.db-wal and payrun\.db-shm/);
  expect(statSync(`${path}-wal`).size).toBe(before);
  for (const end of ["-wal", "-shm"]) rmSync(`${path}${end}`);
  expect(await leases(path)).toBe(0);
  expect(await leases(path)).toBe(0);
});

test("a file deleted under its log is refused, and not recreated and filled from the log", async () => {
  const { path } = await withBackup();
  rmSync(path);
  await expect(openStore(`sqlite:${path}`)).rejects.toMatchObject({ code: "replaced" });
});

test("a folder copied after a crash keeps its last commits once it is marked as a copy", async () => {
  const { path } = await withBackup();
  const copied = join(temporaryFolder(), "copied");
  mkdirSync(copied);
  const copy = join(copied, "payrun.db");
  for (const end of ["", "-wal", "-file"]) copyFileSync(`${path}${end}`, `${copy}${end}`);
  await expect(leases(copy)).rejects.toThrow(/delete payrun\.db-file, and keep payrun\.db-wal/);
  rmSync(`${copy}-file`);
  expect(await leases(copy)).toBe(1);
});
