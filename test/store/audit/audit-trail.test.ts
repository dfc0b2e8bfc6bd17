import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { appendAudit } from "../../../src/store/audit/audit.ts";
import { auditedBusinesses, rowsOf, verifyTrail } from "../../../src/store/audit/audit-trail.ts";
import { createHold } from "../../../src/store/holds/holds.ts";
import type { Store } from "../../../src/store/index.ts";
import { tamper, testStore } from "../support.ts";

async function trailOf(entries: number, businessId = "biz_1"): Promise<Store> {
  const { store } = await testStore();
  await write(store, entries, businessId);
  return store;
}

async function write(store: Store, entries: number, businessId: string): Promise<void> {
  await store.transaction(async (trx) => {
    for (let at = 1; at <= entries; at += 1) {
      await appendAudit(trx, {
        businessId,
        nowMs: at * 1_000,
        actor: "lena",
        action: "held",
        subject: `pay_${at}`,
        details: { reason: "Disputed.", at },
      });
    }
  });
}

describe("a whole trail", () => {
  test("the trails of businesses verify separately, each with its head", async () => {
    const store = await trailOf(3);
    await write(store, 2, "biz_2");
    await write(store, 1, "biz_1");
    expect(await auditedBusinesses(store.db)).toEqual(["biz_1", "biz_2"]);
    const one = await verifyTrail(store.db, "biz_1");
    expect(one).toMatchObject({ entries: 4, problems: [] });
    expect(one.head).toMatch(/^[0-9a-f]{64}$/);
    expect(await verifyTrail(store.db, "biz_2")).toMatchObject({ entries: 2, problems: [] });
    const none = { businessId: "biz_3", entries: 0, head: null, problems: [] };
    expect(await verifyTrail(store.db, "biz_3")).toEqual(none);
  });

  test("the trail can be read for one run alone", async () => {
    const store = await trailOf(2);
    const runId = "pay-run/acme/weekly/2026-11-26";
    const entry = { businessId: "biz_1", nowMs: 1, action: "noted", details: {} };
    await store.transaction(async (trx) => {
      await appendAudit(trx, { ...entry, actor: "lena", subject: runId });
      await appendAudit(trx, { ...entry, actor: runId, subject: `${runId}/lines/1-500` });
    });
    const subjects: string[] = [];
    const filter = { businessId: "biz_1", runId };
    for await (const row of rowsOf(store.db, filter)) subjects.push(row.subject);
    expect(subjects).toEqual([runId, `${runId}/lines/1-500`]);
  });

  test("a long trail is read page by page, whole and in order", async () => {
    const store = await trailOf(2_345);
    const subjects: string[] = [];
    for await (const row of rowsOf(store.db, { businessId: "biz_1" })) subjects.push(row.subject);
    expect(subjects).toEqual(Array.from({ length: 2_345 }, (_, at) => `pay_${at + 1}`));
    expect(await verifyTrail(store.db, "biz_1")).toMatchObject({ entries: 2_345, problems: [] });
    const since: string[] = [];
    for await (const row of rowsOf(store.db, { businessId: "biz_1", sinceMs: 2_344_000 })) {
      since.push(row.subject);
    }
    expect(since).toEqual(["pay_2344", "pay_2345"]);
  });
});

describe("a trail that was tampered with", () => {
  test.each([
    ["at_ms", "at_ms + 1"],
    ["actor", "'mallory'"],
    ["action", "'released'"],
    ["subject", "'pay_9'"],
    ["details", '\'{"reason":"None."}\''],
    ["hash", `'${"f".repeat(64)}'`],
  ])("a trail is found to be changed by the entry with a forged %s", async (column, value) => {
    const store = await trailOf(4);
    await tamper(store, `update audit set ${column} = ${value} where subject = 'pay_2'`);
    const { problems } = await verifyTrail(store.db, "biz_1");
    expect(problems[0]).toMatchObject({ kind: "changed", auditId: 2 });
    expect(problems[0]?.text).toContain("Entry 2");
  });

  test("a deleted entry is found by the entry after it", async () => {
    const store = await trailOf(4);
    await tamper(store, "delete from audit where audit_id = 2");
    const { entries, problems } = await verifyTrail(store.db, "biz_1");
    expect(entries).toBe(3);
    expect(problems).toMatchObject([{ kind: "missing", auditId: 3 }]);
  });

  test("the deletion of the first entries is found", async () => {
    const store = await trailOf(3);
    await tamper(store, "delete from audit where audit_id = 1");
    const { problems } = await verifyTrail(store.db, "biz_1");
    expect(problems).toMatchObject([{ kind: "missing", auditId: 2 }]);
  });

  test("a change in the order of entries is found", async () => {
    const store = await trailOf(4);
    await tamper(store, "update audit set audit_id = 9 where audit_id = 2");
    const kinds = (await verifyTrail(store.db, "biz_1")).problems.map(({ kind }) => kind);
    expect(kinds).toContain("reordered");
  });

  test("an entry that was moved to another business is found", async () => {
    const store = await trailOf(3);
    await tamper(store, "update audit set business_id = 'biz_2' where audit_id = 2");
    const one = await verifyTrail(store.db, "biz_1");
    expect(one.problems).toMatchObject([{ kind: "missing", auditId: 3 }]);
    const other = await verifyTrail(store.db, "biz_2");
    expect(other.problems.length).toBeGreaterThan(0);
  });

  test("the deletion of a trail's last entries is found, with the place", async () => {
    const store = await trailOf(3);
    await write(store, 2, "biz_2");
    await tamper(store, "delete from audit where audit_id = 3");
    const { problems } = await verifyTrail(store.db, "biz_1");
    expect(problems).toMatchObject([{ kind: "cut-off", auditId: 2 }]);
    expect(problems[0]?.text).toMatch(/^The store, at its 3 entries, .* after entry 2\.$/);
    // A later entry follows the deleted one, and so can't hide the deletion.
    await write(store, 2, "biz_1");
    expect((await verifyTrail(store.db, "biz_1")).problems).toMatchObject([{ kind: "missing" }]);
  });

  test("the deletion of a whole trail is found", async () => {
    const store = await trailOf(3);
    await tamper(store, "delete from audit");
    expect(await auditedBusinesses(store.db)).toEqual(["biz_1"]);
    const { entries, problems } = await verifyTrail(store.db, "biz_1");
    expect(entries).toBe(0);
    expect(problems).toMatchObject([{ kind: "cut-off", auditId: 0 }]);
  });

  test("a trail cut off together with its recorded end is found by a later hold", async () => {
    const { store } = await testStore();
    const nowMs = Date.now();
    const hold = { businessId: "biz_1", scope: "payable", value: "pay_1", untilMs: null } as const;
    const held = (atMs: number) =>
      store.transaction((trx) =>
        createHold(trx, { ...hold, reason: "Disputed.", author: "lena", nowMs: atMs }),
      );
    await held(nowMs);
    const { holdId } = await held(nowMs + 5_000);
    expect((await verifyTrail(store.db, "biz_1")).problems).toEqual([]);
    await tamper(store, "delete from audit where audit_id = 2");
    await store.db.deleteFrom("audit_ends").execute();
    const { problems } = await verifyTrail(store.db, "biz_1");
    expect(problems).toMatchObject([{ kind: "cut-off", auditId: 1 }]);
    expect(problems[0]?.text).toContain(`The hold ${holdId}, at `);
    await store.db.deleteFrom("audit").execute();
    expect(await auditedBusinesses(store.db)).toEqual(["biz_1"]);
    expect((await verifyTrail(store.db, "biz_1")).problems).toMatchObject([
      { kind: "cut-off", auditId: 0, text: expect.stringContaining("from its first on") },
    ]);
  });

  test("a trail cut off together with its recorded end is found by a run that has seen the end", async () => {
    const store = await trailOf(3);
    const { head } = await verifyTrail(store.db, "biz_1");
    const seen = new Map([[head ?? "", "pay-run/acme/weekly/2026-11-26"]]);
    expect((await verifyTrail(store.db, "biz_1", seen)).problems).toEqual([]);
    await tamper(store, "delete from audit where audit_id = 3");
    await sql`update audit_ends set entries = 2,
      hash = (select hash from audit where audit_id = 2)`.execute(store.db);
    expect((await verifyTrail(store.db, "biz_1")).problems).toEqual([]);
    const { problems } = await verifyTrail(store.db, "biz_1", seen);
    expect(problems).toMatchObject([{ kind: "cut-off", auditId: 2 }]);
    expect(problems[0]?.text).toContain("pay-run/acme/weekly/2026-11-26 has seen");
  });

  test("verifying a trail reports at most twenty problems", async () => {
    const store = await trailOf(60);
    await tamper(store, "update audit set actor = 'mallory'");
    expect((await verifyTrail(store.db, "biz_1")).problems).toHaveLength(20);
  });
});
