import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chunks } from "../../src/store/sql/db.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../../src/store/open.ts";

export const BUSINESS_ID = "biz_bench";
export const SOURCE_ID = "balance";
export const VENDORS = 800;
const DAY_MS = 86_400_000;

export interface Place {
  readonly folder: string;
  readonly store: Store;
}

/**
 * Creates a store in SQLite with that many settled weekly runs.
 *
 * @param lines lines of each run
 */
export async function storeWith(runs: number, lines: number): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "payrun-reads-"));
  const store = await openStore(`sqlite:${join(folder, "payrun.db")}`);
  for (let runNo = 0; runNo < runs; runNo += 1) await addRun(store, runNo, lines);
  return { folder, store };
}

async function addRun(store: Store, runNo: number, lines: number): Promise<void> {
  const runId = `pay-run/bench/weekly/${runNo}`;
  const date = new Date(Date.UTC(2024, 0, 4) + runNo * 7 * DAY_MS).toISOString().slice(0, 10);
  const numbered = Array.from({ length: lines }, (_, lineNo) => lineNo);
  await store.transaction(async (trx) => {
    await trx
      .insertInto("runs")
      .values({ ...ENDED, run_id: runId, period: date })
      .execute();
    for (const some of chunks(numbered)) {
      const common = some.map((lineNo) => ({
        run_id: runId,
        payable_id: `pbl_${runNo}_${lineNo}`,
        version: 1,
        line_no: lineNo,
        line_hash: `hash-${runNo}-${lineNo}`,
        contact_id: `con_${lineNo % VENDORS}`,
        amount_cents: 10_000,
        execution_date: date,
        source_id: SOURCE_ID,
      }));
      const plan = common.map((line) => ({
        ...line,
        decisions_sent: 0,
        plan_no: 1,
        line: planned(line.payable_id),
      }));
      await trx.insertInto("plan_lines").values(plan).execute();
      const rows = common.map((line) => ({ ...line, ...SETTLED }));
      await trx.insertInto("run_lines").values(rows).execute();
    }
  });
}

/** Returns text that takes as long to read as a bill's plan line. */
function planned(payableId: string): string {
  return JSON.stringify({ payableId, bankLast4: "6789", description: "x".repeat(600) });
}

const ENDED = {
  business_id: BUSINESS_ID,
  business: "bench",
  playbook: "weekly",
  playbook_revision: 1,
  policy: "{}",
  revision: 1,
  inputs: "{}",
  phase: "completed",
  decisions_sent: 0,
  plan_no: 1,
  total_cents: 0,
  launched_by: "bench",
  launched_by_kind: "principal" as const,
  launched_at_ms: 1,
  ended_at_ms: 1,
};

const SETTLED = {
  business_id: BUSINESS_ID,
  quorum: 1,
  state: "settled",
  payment_ids: '["pay_1"]',
  attempts: 1,
  funded: 1,
  lease_epoch: 1,
  not_before_ms: 0,
  back_offs: 0,
  back_off_since_ms: null,
  poll_at_ms: 0,
  look: 0,
  updated_at_ms: 1,
  rule_index: 0,
  days_late: 0,
  flagged: 0,
  bank_changed: 0,
  record_changed: 0,
  over_limit: 0,
  stage: 0,
  escalated: 0,
};
