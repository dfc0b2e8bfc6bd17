import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { redateLate } from "../../activities/runs/redate-late.ts";
import { getPlanLines } from "../../src/store/lines/plan-lines.ts";
import { storePlan } from "../../src/store/plans/plan-writes.ts";
import { storeReplannedLines } from "../../src/store/plans/replan-writes.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../../src/store/open.ts";
import { getRun, upsertRun } from "../../src/store/runs/runs.ts";
import { wholeNumber } from "../../test/support/arguments.ts";
import { newRun, planLine, planSummary } from "../../test/store/fixtures.ts";
import { ClockReading } from "../../src/business/clock.ts";

const RUN_ID = "pay-run/acme/weekly/2026-11-05";

/** A day after the bills of the plan were to be paid. */
const LATE_MS = Date.parse("2026-11-06T15:00:00Z");

const CLOCK = new ClockReading({ businessMs: LATE_MS, serviceHeard: true });

/** Number of bills that are replanned one by one, for comparison. */
const SINGLY = 20;

/**
 * Replans, all at once, a run that was approved a day late. Measures the time per bill in a small
 * run and in one of ten times the bills, and the time per bill one by one.
 */
export async function main(args: readonly string[]): Promise<void> {
  const options = { bills: { type: "string", default: "20000" } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const bills = wholeNumber("bills", values.bills, 10 * SINGLY);
  const few = await measured(Math.floor(bills / 10));
  const many = await measured(bills);
  const seconds = ((many.atOnceMs * bills) / 1_000).toFixed(1);
  process.stdout.write(
    `${bills} bills dated anew in ${seconds} s\n` +
      `${ratio(many.atOnceMs, few.atOnceMs)}x  a bill, compared with a tenth of the bills\n` +
      `${ratio(many.singlyMs, many.atOnceMs)}x  a bill, one by one\n`,
  );
}

interface Figures {
  /** Milliseconds per bill. */
  readonly atOnceMs: number;
  readonly singlyMs: number;
}

async function measured(bills: number): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), "payrun-replan-"));
  const store = await openStore(`sqlite:${join(folder, "payrun.db")}`);
  try {
    await approvedRun(store, bills);
    const singlyMs = await timed(() => oneByOne(store));
    const atOnceMs = await timed(() => atOnce(store));
    return { singlyMs: singlyMs / SINGLY, atOnceMs: atOnceMs / (bills - SINGLY) };
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function approvedRun(store: Store, bills: number): Promise<void> {
  const { run } = await upsertRun(store.db, newRun());
  const lines = Array.from({ length: bills }, (_, n) =>
    planLine(`pay_${n}`, { description: "x".repeat(300), executionDate: "2026-11-05" }),
  );
  const plan = { summary: planSummary(lines), lines, skipped: [] };
  await store.transaction((trx) => storePlan(trx, { run, plan, nowMs: 1 }));
  await store.db.updateTable("run_lines").set({ state: "planned", funded: 1 }).execute();
}

async function oneByOne(store: Store): Promise<void> {
  const lines = await getPlanLines(store.db, RUN_ID, { limit: SINGLY });
  for (const { plan } of lines) {
    const next = { ...plan, version: 2, lineHash: `${plan.lineHash}-2` };
    const replanned = { plan: next, reason: "it is late" };
    await store.transaction((trx) =>
      storeReplannedLines(trx, { runId: RUN_ID, lines: [replanned], nowMs: 2 }),
    );
  }
}

async function atOnce(store: Store): Promise<void> {
  await store.transaction(async (trx) => {
    const run = await getRun(trx, RUN_ID);
    const isDone = run !== undefined && (await redateLate(trx, run, [], CLOCK));
    if (!isDone) throw new Error("nothing was dated anew");
  });
}

async function timed(work: () => Promise<void>): Promise<number> {
  const beganAt = performance.now();
  await work();
  return performance.now() - beganAt;
}

function ratio(one: number, other: number): string {
  return (one / other).toFixed(1).padStart(8);
}
