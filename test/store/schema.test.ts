import { sql } from "kysely";
import { expect, test } from "vitest";
import { appendAudit } from "../../src/store/audit.ts";
import type { Tables } from "../../src/store/index.ts";
import { storePlan } from "../../src/store/plan-writes.ts";
import { upsertRun } from "../../src/store/runs.ts";
import { cancellationColumns } from "./columns/cancellations.ts";
import type { Columns } from "./columns/columns.ts";
import { decisionColumns } from "./columns/decisions.ts";
import { incidentColumns } from "./columns/incidents.ts";
import { noticeColumns } from "./columns/notices.ts";
import { onboardingColumns } from "./columns/onboardings.ts";
import { otherColumns } from "./columns/others.ts";
import { paymentColumns } from "./columns/payments.ts";
import { runColumns } from "./columns/runs.ts";
import { topUpColumns } from "./columns/top-ups.ts";
import { newRun, planLine, planSummary } from "./fixtures.ts";
import { endAttemptOn, liveAttemptOn, testStore } from "./support.ts";

const columns: Columns<keyof Tables> = {
  ...runColumns,
  ...paymentColumns,
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

test("plans and the audit trail can't be changed or thinned out", async () => {
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

test("a payable has at most one live attempt", async () => {
  const { store } = await testStore();
  await liveAttemptOn(store, "pay_1");
  const copy = (seq: number) => sql`
    insert into attempts select 'second', business_id, subject, ${seq}, operation, method, path,
      body, 'another key', owner, line_hash, contact_id, source_id, rail, amount_cents,
      execution_date, known_payment_ids, sends, 'live', null, null, null, null, payment_ids, null,
      created_at_ms, updated_at_ms from attempts`;
  await expect(copy(2).execute(store.db)).rejects.toThrow(/unique/i);
  await endAttemptOn(store, "pay_1");
  await expect(copy(1).execute(store.db)).rejects.toThrow(/unique/i);
  await copy(2).execute(store.db);
});
