import type { KyselyPlugin } from "kysely";
import { expect, test } from "vitest";
import { appendAudit, endOfTrail } from "../../../src/store/audit/audit.ts";
import type { Store } from "../../../src/store/index.ts";
import { auditHead, hasAuditHead, lostHead } from "../../../src/store/janitor/heads.ts";
import { testStore } from "../support.ts";

async function note(store: Store): Promise<string> {
  const entry = { businessId: "biz_1", nowMs: 1, actor: "lena", action: "noted" };
  await store.transaction((trx) => appendAudit(trx, { ...entry, subject: "pay_1", details: {} }));
  return (await endOfTrail(store.db, "biz_1")) ?? "";
}

test("a head of the trail is found even while the trail grows, and a foreign head is not", async () => {
  const { store } = await testStore();
  const head = await note(store);
  const lengthen: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      await note(store);
      return result;
    },
  };
  expect(await hasAuditHead(store.db.withPlugin(lengthen), "biz_1", head)).toBe(true);
  expect(await hasAuditHead(store.db, "biz_1", head)).toBe(true);
  expect(await hasAuditHead(store.db, "biz_1", "f".repeat(64))).toBe(false);
});

test("only a head that the store has made itself shows that it has lost an entry", async () => {
  const { store } = await testStore();
  await note(store);
  const head = await auditHead(store.db, "biz_1");
  if (head === undefined) throw new Error("there is no head");
  expect(await lostHead(store.db, "biz_1", head)).toBeUndefined();
  const forged = { hash: "f".repeat(64), atMs: head.atMs };
  for (const said of [
    { ...head, ...forged },
    { ...forged, proof: "" },
    { ...head, hash: [head.hash] },
    { ...head, atMs: head.atMs + 1 },
    undefined,
    "f",
  ]) {
    expect(await lostHead(store.db, "biz_1", said)).toBeUndefined();
  }
  // Another business has no such entry, but the proof is not for it either.
  expect(await lostHead(store.db, "biz_2", head)).toBeUndefined();
  // As a backup from before the entry, which has the same secret.
  const backup = (await testStore()).store;
  const secrets = await store.db.selectFrom("secrets").selectAll().execute();
  await backup.db.insertInto("secrets").values(secrets).execute();
  expect(await lostHead(backup.db, "biz_1", head)).toEqual(head);
  expect(await lostHead((await testStore()).store.db, "biz_1", head)).toBeUndefined();
});
