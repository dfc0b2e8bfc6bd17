import { expect, test } from "vitest";
import { appendOfLines, listAuditOfPayable, partOf } from "../../src/store/audit-lines.ts";
import { appendAudit, listAudit } from "../../src/store/audit.ts";
import { verifyTrail } from "../../src/store/audit-trail.ts";
import { testStore } from "./support.ts";

const businessId = "biz_1";
const runId = "pay-run/acme/weekly/2026-11-05";
const entry = { businessId, runId, nowMs: 5, actor: runId };

const line = (lineNo: number) => ({
  payableId: `pay_${lineNo}`,
  lineNo,
  details: { amountCents: lineNo },
});

test("neighbours in a plan share an entry, and each finds its own part of it", async () => {
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

test("a part of a plan is five hundred lines", () => {
  expect(partOf("r", 1)).toBe("r/lines/1-500");
  expect(partOf("r", 500)).toBe("r/lines/1-500");
  expect(partOf("r", 501)).toBe("r/lines/501-1000");
});
