import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { StoreError } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { temporaryFolder, testStore } from "../support.ts";

async function refusal(url: string, mustExist = false): Promise<StoreError> {
  const opened = openStore(url, { mustExist, busyLimitMs: 300 });
  const error = await opened.then(
    async (store) => {
      await store.close();
      return undefined;
    },
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  return error as StoreError;
}

test("opening creates a store that only its owner can read, with its folders, and finds it again", async () => {
  const path = join(temporaryFolder(), "deep", "er", "payrun.db");
  const first = await openStore(`sqlite:${path}`);
  await first.db
    .insertInto("claims")
    .values({ business_id: "b", payable_id: "p", owner: "o", claimed_at_ms: 1 })
    .execute();
  await first.close();
  expect(statSync(path).mode & 0o077).toBe(0);

  const second = await openStore(`sqlite:${path}`, { mustExist: true });
  onTestFinished(() => second.close());
  expect(await second.db.selectFrom("claims").select("owner").execute()).toEqual([{ owner: "o" }]);
});

test("a store that must exist is not created", async () => {
  const path = join(temporaryFolder(), "none.db");
  const error = await refusal(`sqlite:${path}`, true);
  expect(error.code).toBe("missing");
  expect(error.message).toContain(path);
  expect(existsSync(path)).toBe(false);
});

test("an empty file is not taken for a new store if a store must exist", async () => {
  const path = join(temporaryFolder(), "empty.db");
  writeFileSync(path, "");
  expect((await refusal(`sqlite:${path}`, true)).code).toBe("missing");
});

test("a file that is not SQLite is refused and left unchanged", async () => {
  const path = join(temporaryFolder(), "letter.txt");
  const text = "Dear vendor, the payment is on its way. ".repeat(50);
  writeFileSync(path, text);
  expect((await refusal(`sqlite:${path}`)).code).toBe("foreign");
  expect(readFileSync(path, "utf8")).toBe(text);
});

test("another program's SQLite file is refused and left unchanged", async () => {
  const path = join(temporaryFolder(), "notes.db");
  const other = new DatabaseSync(path);
  other.exec("create table notes (text)");
  other.close();
  const before = readFileSync(path);
  const error = await refusal(`sqlite:${path}`);
  expect(error.code).toBe("foreign");
  expect(error.message).toContain('"notes"');
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("a damaged file is reported as corrupt", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "payrun.db");
  await (await openStore(`sqlite:${path}`)).close();
  const bytes = readFileSync(path);
  bytes.fill(0x5a, 100, 8_000);
  writeFileSync(path, bytes);
  expect((await refusal(`sqlite:${path}`)).code).toBe("corrupt");
});

test("a folder and an address of an unsupported kind are refused with the way out", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "store"));
  expect((await refusal(`sqlite:${join(folder, "store")}`)).code).toBe("unreadable");
  for (const address of ["payrun.db", "mysql://db.example/payrun"]) {
    const other = await refusal(address);
    expect(other.code).toBe("unsupported");
    expect(other.message).toContain("sqlite:PATH");
  }
});

test("a write fails with a clear error if another process keeps the lock, and reads go on", async () => {
  const { store, url } = await testStore();
  await store.close();
  const path = url.slice("sqlite:".length);
  const impatient = await openStore(url, { busyLimitMs: 200 });
  const file = join(import.meta.dirname, "..", "children", "hold-lock.ts");
  const holder = spawn(process.execPath, [file, path], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(async () => {
    await impatient.close();
    holder.kill();
  });
  await once(holder.stdout, "data");

  const write = impatient.transaction((trx) => trx.deleteFrom("claims").execute());
  await expect(write).rejects.toMatchObject({ code: "locked" });
  const single = impatient.db.deleteFrom("claims").execute();
  await expect(single).rejects.toMatchObject({ code: "locked" });
  // Readers are never kept out.
  expect(await impatient.db.selectFrom("claims").selectAll().execute()).toEqual([]);

  const patient = await openStore(url);
  onTestFinished(() => patient.close());
  const waiting = patient.transaction((trx) => trx.deleteFrom("claims").execute());
  holder.stdin.end();
  await expect(waiting).resolves.toBeDefined();
});
