import { createHash } from "node:crypto";
import type { Transaction } from "kysely";
import { expect, test } from "vitest";
import { canonicalJson } from "../../../src/domain/canonical-json.ts";
import {
  appendAudit,
  appendAuditEntries,
  type AuditEntry,
  listAudit,
} from "../../../src/store/audit/audit.ts";
import { verifyTrail } from "../../../src/store/audit/audit-trail.ts";
import type { Tables } from "../../../src/store/index.ts";
import { child, testStore } from "../support.ts";

/** Follows the chain using only what is stored in the entries. */
function expectChained(entries: readonly AuditEntry[]): void {
  let prevHash = "0".repeat(64);
  for (const entry of entries) {
    const { businessId, atMs, actor, actorKind, action, subject } = entry;
    const details = JSON.stringify(entry.details);
    const who = { actor, actorKind };
    const content = { v: "audit-1", prevHash, businessId, atMs, ...who, action, subject, details };
    expect(entry.prevHash).toBe(prevHash);
    prevHash = createHash("sha256").update(canonicalJson(content)).digest("hex");
    expect(entry.hash).toBe(prevHash);
  }
}

test("the entries of each business are chained by their hashes", async () => {
  const { store } = await testStore();
  for (const [businessId, subject] of [
    ["biz_1", "pay_1"],
    ["biz_2", "pay_1"],
    ["biz_1", "pay_2"],
  ] as const) {
    await store.transaction((trx) =>
      appendAudit(trx, {
        businessId,
        nowMs: 5,
        actor: "lena",
        action: "held",
        subject,
        details: { reason: "Disputed." },
      }),
    );
  }
  const entries = await listAudit(store.db, { businessId: "biz_1" });
  expect(entries.map((entry) => entry.subject)).toEqual(["pay_1", "pay_2"]);
  expect(entries[0]).toMatchObject({ atMs: 5, actor: "lena", details: { reason: "Disputed." } });
  expectChained(entries);
  expectChained(await listAudit(store.db, { businessId: "biz_2" }));
  const ofOne = await listAudit(store.db, { businessId: "biz_1", subject: "pay_2" });
  expect(ofOne).toEqual([entries[1]]);
});

test("an entry is rolled back with its transaction", async () => {
  const { store } = await testStore();
  const entry = {
    businessId: "biz_1",
    nowMs: 5,
    actor: "lena",
    action: "held",
    subject: "pay_1",
    details: {},
  };
  const failing = store.transaction(async (trx) => {
    await appendAudit(trx, entry);
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await listAudit(store.db, { businessId: "biz_1" })).toEqual([]);
});

test("two processes that write at once extend one chain and lose nothing", async () => {
  const { store, url } = await testStore();
  await Promise.all([child("audit", [url, "one", "100"]), child("audit", [url, "two", "100"])]);
  const entries = await listAudit(store.db, { businessId: "biz_1" });
  expect(entries).toHaveLength(200);
  for (const actor of ["one", "two"]) {
    const counted = entries.filter((entry) => entry.actor === actor);
    expect(counted.map((entry) => entry.details["n"])).toEqual(
      Array.from({ length: 100 }, (_, n) => n + 1),
    );
  }
  expectChained(entries);
});

test("the entries of one transaction keep the order in which they were written", async () => {
  const { store } = await testStore();
  const entry = { businessId: "biz_1", nowMs: 5, actor: "lena", subject: "pay_1", details: {} };
  await store.transaction(async (trx) => {
    await appendAudit(trx, { ...entry, action: "first" });
    await appendAudit(trx, { ...entry, businessId: "biz_2", action: "elsewhere" });
    await appendAuditEntries(trx, [
      { ...entry, action: "second" },
      { ...entry, action: "third" },
    ]);
  });
  const entries = await listAudit(store.db, { businessId: "biz_1" });
  expect(entries.map(({ action }) => action)).toEqual(["first", "second", "third"]);
  expectChained(entries);
  expectChained(await listAudit(store.db, { businessId: "biz_2" }));
});

test("an entry outside a transaction of the store is refused, not lost", async () => {
  const { store } = await testStore();
  let ended: Transaction<Tables> | undefined;
  await store.transaction(async (trx) => {
    ended = trx;
  });
  const entry = { businessId: "biz_1", nowMs: 5, actor: "l", action: "a", subject: "s" };
  expect(() => appendAudit(ended as Transaction<Tables>, { ...entry, details: {} })).toThrow(
    "belong in a transaction",
  );
});

test("a value that the database stores differently is hashed as it is stored", async () => {
  const { store } = await testStore();
  await store.transaction((trx) =>
    appendAudit(trx, {
      businessId: "biz_1",
      nowMs: 10.75,
      actor: "a\0b",
      action: "held",
      subject: "pay_\ud800",
      details: { reason: "a\0b \ud800 é 😀", amount: 0.1 },
    }),
  );
  expect(await verifyTrail(store.db, "biz_1")).toMatchObject({ entries: 1, problems: [] });
});
