import { describe, expect, test } from "vitest";
import { appendOfLines, listAuditOfPayable, partOf } from "../../../src/store/audit/audit-lines.ts";
import { appendAudit, listAudit } from "../../../src/store/audit/audit.ts";
import { verifyTrail } from "../../../src/store/audit/audit-trail.ts";
import { tamper, testStore } from "../support.ts";

const businessId = "biz_1";
const runId = "pay-run/acme/weekly/2026-11-05";
const entry = { businessId, runId, nowMs: 5, actor: runId };

const line = (lineNo: number) => ({
  payableId: `pay_${lineNo}`,
  lineNo,
  details: { amountCents: lineNo },
});

test("neighboring lines of a plan share an entry, and each line finds its own part of it", async () => {
  const { store } = await testStore();
  await store.transaction(async (trx) => {
    await appendOfLines(trx, {
      ...entry,
      action: "attempt.sending",
      details: { seq: 1 },
      lines: [1, 2, 500, 501].map(line),
    });
    const own = { businessId, nowMs: 6, actor: "olga", action: "noted", details: {} };
    await appendAudit(trx, { ...own, subject: "pay_2" });
  });
  const all = await listAudit(store.db, { businessId });
  expect(all.map(({ subject }) => subject)).toEqual([`${runId}/lines/1-500`, "pay_501", "pay_2"]);
  const about = (lineNo: number) =>
    listAuditOfPayable(store.db, { businessId, payableId: `pay_${lineNo}` }, [{ runId, lineNo }]);
  expect(await about(2)).toMatchObject([
    { action: "attempt.sending", details: { seq: 1, payableId: "pay_2", amountCents: 2 } },
    { action: "noted" },
  ]);
  expect(await about(501)).toMatchObject([{ details: { seq: 1, amountCents: 501 } }]);
  expect(await about(3)).toEqual([]);
  expect(await verifyTrail(store.db, businessId)).toMatchObject({ entries: 3, problems: [] });
});

test("an entry covers a part of a plan of at most five hundred lines", () => {
  expect(partOf("r", 1)).toBe("r/lines/1-500");
  expect(partOf("r", 500)).toBe("r/lines/1-500");
  expect(partOf("r", 501)).toBe("r/lines/501-1000");
});

describe("tampered shared entries", () => {
  async function trail() {
    const { store } = await testStore();
    for (const action of ["attempt.sending", "attempt.answered", "line:settled"]) {
      await store.transaction((trx) =>
        appendOfLines(trx, { ...entry, action, lines: [1, 2, 3].map(line) }),
      );
    }
    return store;
  }

  test.each([
    [
      "one bill's amount",
      `update audit set details = replace(details, '"amountCents":2', '"amountCents":9') where audit_id = 2`,
      { kind: "changed", auditId: 2, action: "attempt.answered" },
    ],
    [
      "an answer taken out",
      "delete from audit where audit_id = 2",
      { kind: "missing", auditId: 3, action: "line:settled" },
    ],
  ])(
    "tampering with a shared entry is found, with its subject: %s",
    async (_, statement, problem) => {
      const store = await trail();
      await tamper(store, statement);
      const { problems } = await verifyTrail(store.db, businessId);
      expect(problems[0]).toMatchObject({ ...problem, subject: `${runId}/lines/1-500` });
    },
  );

  test("an inserted entry that follows no other is found", async () => {
    const store = await trail();
    const forged = {
      actor: "m",
      actor_kind: "principal",
      action: "hold.created",
      subject: "hold_1",
      details: "{}",
    } as const;
    const row = { business_id: businessId, at_ms: 5, ...forged, prev_hash: "x", hash: "y" };
    await store.db.insertInto("audit").values(row).execute();
    const { problems } = await verifyTrail(store.db, businessId);
    expect(problems[0]).toMatchObject({ kind: "missing", auditId: 4, subject: "hold_1" });
  });
});
