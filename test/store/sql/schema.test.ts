import { sql } from "kysely";
import { expect, test } from "vitest";
import { appendAudit } from "../../../src/store/audit/audit.ts";
import type { Tables } from "../../../src/store/index.ts";
import { storePlan } from "../../../src/store/plans/plan-writes.ts";
import { upsertRun } from "../../../src/store/runs/runs.ts";
import { cancellationColumns } from "../columns/cancellations.ts";
import type { Columns } from "../columns/columns.ts";
import { decisionColumns } from "../columns/decisions.ts";
import { incidentColumns } from "../columns/incidents.ts";
import { ledgerColumns } from "../columns/ledger.ts";
import { noticeColumns } from "../columns/notices.ts";
import { onboardingColumns } from "../columns/onboardings.ts";
import { otherColumns } from "../columns/others.ts";
import { paymentColumns } from "../columns/payments.ts";
import { runColumns } from "../columns/runs.ts";
import { topUpColumns } from "../columns/top-ups.ts";
import { newRun, planLine, planSummary } from "../fixtures.ts";
import { testStore } from "../support.ts";

const columns: Columns<keyof Tables> = {
  ...runColumns,
  ...paymentColumns,
  ...ledgerColumns,
  ...decisionColumns,
  ...incidentColumns,
  ...onboardingColumns,
  ...cancellationColumns,
  ...noticeColumns,
  ...otherColumns,
  ...topUpColumns,
};

test("the tables have exactly the columns that queries are typed with", async () => {
  const { store } = await testStore();
  const tables = await store.db.introspection.getTables();
  const found = Object.fromEntries(
    tables
      .filter((table) => !["payrun_schema", "payrun_commits"].includes(table.name))
      .map((table) => [table.name, table.columns.map((column) => column.name).sort()]),
  );
  const expected = Object.fromEntries(
    Object.entries(columns).map(([table, names]) => [table, Object.keys(names).sort()]),
  );
  expect(found).toEqual(expected);
});

test("plans and the audit trail can't be changed or deleted", async () => {
  const { store } = await testStore();
  const { run } = await upsertRun(store.db, newRun());
  const lines = [planLine("pay_1")];
  await store.transaction(async (trx) => {
    await storePlan(trx, {
      run,
      plan: { summary: planSummary(lines), lines, skipped: [] },
      nowMs: 1,
    });
    await appendAudit(trx, {
      businessId: "biz_1",
      nowMs: 1,
      actor: "lena",
      action: "run.launched",
      subject: run.runId,
      details: {},
    });
  });
  for (const [table, column] of [
    ["plans", "plan_hash"],
    ["plan_lines", "line_hash"],
    ["audit", "actor"],
  ] as const) {
    const change = sql`update ${sql.table(table)} set ${sql.ref(column)} = 'forged'`;
    await expect(change.execute(store.db)).rejects.toThrow(`${table} only grows`);
    await expect(store.db.deleteFrom(table).execute()).rejects.toThrow(`${table} only grows`);
  }
});

test("a key has one attempt, a send's number is unique, and its result is written once", async () => {
  const { store } = await testStore();
  const attempt = {
    ...{ business_id: "biz_1", subject: "pay_1", seq: 1, operation: "pay" },
    ...{ attempt_id: "att_1", idempotency_key: "key_1", created_at_ms: 1 },
  };
  await store.db.insertInto("attempts").values(attempt).execute();
  for (const other of [
    { attempt_id: "att_2", seq: 2 },
    { attempt_id: "att_2", idempotency_key: "key_2" },
  ]) {
    const again = store.db.insertInto("attempts").values({ ...attempt, ...other });
    await expect(again.execute()).rejects.toThrow(/unique/i);
  }
  const send = {
    ...{ send_id: "send_1", attempt_id: "att_1", business_id: "biz_1", subject: "pay_1" },
    ...{ seq: 1, send_no: 1, owner: "run", sent_by: "w", path: "/v1/payments", body: "{}" },
    ...{
      run_id: "run",
      approved_hash: "h",
      contact_id: "c",
      source_id: "balance",
      rail: "SERVICE",
    },
    ...{ amount_cents: 1, execution_date: "2026-11-05", baseline: "[]", made_ids: "[]" },
    ...{ opened_at_ms: 1, leave_by_ms: 2, result: "pending" },
  };
  await store.db.insertInto("sends").values(send).execute();
  const same = store.db.insertInto("sends").values({ ...send, send_id: "send_2" });
  await expect(same.execute()).rejects.toThrow(/unique/i);
  const answer = (result: string) => store.db.updateTable("sends").set({ result }).execute();
  await answer("unknown");
  await expect(answer("applied")).rejects.toThrow("sends is written once");
  const body = store.db.updateTable("sends").set({ body: "forged" });
  await expect(body.execute()).rejects.toThrow("sends is written once");
  for (const table of ["attempts", "sends"] as const) {
    await expect(store.db.deleteFrom(table).execute()).rejects.toThrow(`${table} only grows`);
  }
});
