import type { KyselyPlugin } from "kysely";
import { expect, test } from "vitest";
import { appendAudit, endOfTrail } from "../../../src/store/audit/audit.ts";
import type { Store } from "../../../src/store/index.ts";
import { hasAuditHead } from "../../../src/store/janitor/behind.ts";
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
