import type { PlanLine } from "../../src/contracts/pay-run.ts";
import type { PayLimits } from "../../src/contracts/playbook.ts";
import { recordDecision } from "../../src/store/decisions.ts";
import { drawLines, type Draw, type DrawRequest } from "../../src/store/draws.ts";
import type { Store } from "../../src/store/index.ts";
import { changeLine } from "../../src/store/lines.ts";
import { storePlan } from "../../src/store/plan-writes.ts";
import { upsertRun } from "../../src/store/runs.ts";
import { newRun, planLine, planSummary } from "./fixtures.ts";

const NO_LIMITS: PayLimits = {
  billCents: null,
  vendorPerWeekCents: null,
  businessPerWeekCents: null,
};

/**
 * A planned run whose lines are approved until 10,000 on the business clock, and funded.
 *
 * @returns the run's id
 */
export async function approvedRun(
  store: Store,
  playbook: string,
  payables: readonly string[],
  changes: Partial<PlanLine> = {},
): Promise<string> {
  const { run } = await upsertRun(store.db, newRun({ playbook }));
  const lines = payables.map((payableId) => planLine(payableId, changes));
  await store.transaction(async (trx) => {
    const plan = { summary: planSummary(lines), lines, skipped: [] };
    await storePlan(trx, { run, plan, nowMs: 1 });
    await recordDecision(trx, approval(run.runId, "carol", lines));
    for (const { payableId } of lines) {
      await changeLine(trx, { runId: run.runId, payableId }, { state: "planned", funded: true }, 3);
    }
  });
  return run.runId;
}

/** Somebody's approval of these lines. */
export function approval(
  runId: string,
  principal: string,
  approves: Parameters<typeof recordDecision>[1]["approves"],
): Parameters<typeof recordDecision>[1] {
  return {
    runId,
    planHash: "plan-hash-1",
    decision: "approve",
    principal,
    tokenId: `tok_${principal}`,
    roles: ["controller"],
    dropped: [],
    comment: null,
    decidedAtMs: 2,
    expiresAtMs: 10_000,
    outcome: "accepted",
    reason: null,
    approves,
  };
}

/** One draw as a lane makes it. */
export function draw(
  store: Store,
  runId: string,
  changes: Partial<DrawRequest> = {},
): Promise<Draw> {
  return store.transactionOf("biz_1", (trx) =>
    drawLines(trx, {
      runId,
      businessId: "biz_1",
      playbook: "weekly",
      limits: NO_LIMITS,
      owner: "worker-1",
      limit: 20,
      leaseMs: 60_000,
      realMs: 5_000,
      serviceMs: 5_000,
      businessMs: 5_000,
      ...changes,
    }),
  );
}
