import { copyFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { takeLease } from "../../../src/store/sql/leases.ts";
import { howItTakesWrites } from "../../../src/store/sql/small-write.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { temporaryFolder } from "../support.ts";

async function opened(ownThread: boolean): Promise<{ store: Store; path: string }> {
  const path = join(temporaryFolder(), "payrun.db");
  const store = await openStore(`sqlite:${path}`, { ownThread });
  onTestFinished(() => store.close());
  return { store, path };
}

const lease = { name: "a", holder: "b" };
const writes = (store: Store): readonly (() => Promise<unknown>)[] => [
  () => takeLease(store.db, lease, 1),
  () => store.transaction((trx) => takeLease(trx, lease, 1)),
];

describe.each([true, false])("a store in a file, in its own thread: %s", (ownThread) => {
  test("a store whose file is deleted reports it and accepts no more writes", async () => {
    const { store, path } = await opened(ownThread);
    for (const write of writes(store)) await write();
    expect(await howItTakesWrites(store)).toBe("ok");
    rmSync(path);
    for (const write of writes(store)) {
      await expect(write()).rejects.toMatchObject({ name: "StoreError", code: "replaced" });
      await expect(write()).rejects.toThrow(
        /payrun\.db was deleted.*Stop every worker and gateway/,
      );
    }
    expect(await howItTakesWrites(store)).toBe("replaced");
  });

  test("a store whose file is replaced reports it, even if the new file is an identical copy", async () => {
    const { store, path } = await opened(ownThread);
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    for (const write of writes(store)) {
      await expect(write()).rejects.toThrow(/was replaced by another file/);
    }
  });
});

test("a write during which the file is deleted fails", async () => {
  const { store, path } = await opened(false);
  const write = store.transaction(async (trx) => {
    await takeLease(trx, lease, 1);
    rmSync(path);
  });
  await expect(write).rejects.toMatchObject({ code: "replaced" });
});
