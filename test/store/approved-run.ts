import type { PlanLine } from "../../src/contracts/pay-run.ts";
import type { ApprovalRule, PayLimits } from "../../src/contracts/playbook.ts";
import { hashOfLine } from "../../src/domain/planning/line-hash.ts";
import { claimPayables } from "../../src/store/payables/claims.ts";
import { recordDecision } from "../../src/store/approvals/decisions.ts";
import type { Wish } from "../../src/ledger/facts.ts";
import { mayPay } from "../../src/ledger/gate-pay.ts";
import { askGate } from "../../src/ledger/gate.ts";
import { pay } from "../../src/ledger/operations.ts";
import { payRequest } from "../../src/ledger/requests.ts";
import { databaseNowMs } from "../../src/store/sql/database-clock.ts";
import type { Store } from "../../src/store/index.ts";
import { type Leased, leaseLines } from "../../src/store/lines/line-leases.ts";
import { changeLine } from "../../src/store/lines/lines.ts";
import { storePlan } from "../../src/store/plans/plan-writes.ts";
import { recordLaunch } from "../../src/store/runs/runs.ts";
import { newRun, planLine, planSummary } from "./fixtures.ts";
import { ClockReading } from "../../src/business/clock.ts";

const NO_LIMITS: PayLimits = {
  billCents: null,
  vendorPerWeekCents: null,
  businessPerWeekCents: null,
};

/** Returns a planned line with the hash of its terms, by which the gate knows it. */
export function hashedLine(payableId: string, changes: Partial<PlanLine> = {}): PlanLine {
  const line = planLine(payableId, changes);
  return { ...line, lineHash: hashOfLine("biz_1", line) };
}

/**
 * Stores a planned run whose lines are funded, and approved until 10,000 on the business clock.
 *
 * @returns the run's id
 */
export async function approvedRun(
  store: Store,
  playbook: string,
  payables: readonly string[],
  changes: Partial<PlanLine> = {},
): Promise<string> {
  const { run } = await store.transaction((trx) => recordLaunch(trx, newRun({ playbook })));
  const lines = payables.map((payableId) => hashedLine(payableId, changes));
  await store.transaction(async (trx) => {
    const plan = { summary: planSummary(lines), lines, skipped: [] };
    await storePlan(trx, { run, plan, nowMs: 1 });
    await recordDecision(trx, approval(run.runId, "carol", lines));
    const { businessId, runId: owner } = run;
    await claimPayables(trx, { businessId, payableIds: payables, owner, nowMs: 2 });
    for (const { payableId } of lines) {
      await changeLine(trx, { runId: run.runId, payableId }, { state: "planned", funded: true }, 3);
    }
  });
  return run.runId;
}

/** Returns an approval of these lines by one person. */
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

/** The result of a lane's turn: the lines that it leased, and the gate's answer for each. */
export interface Turn extends Leased {
  /** Payables for which a request may leave. */
  readonly sent: readonly string[];
  /** By payable, why no request may leave. */
  readonly closed: Readonly<Record<string, string>>;
}

interface LeaseChanges {
  readonly by?: string;
  readonly limit?: number;
  readonly leaseMs?: number;
  readonly serviceMs?: number;
  readonly serviceOffMs?: number;
  readonly businessMs?: number;
  readonly limits?: PayLimits;
  /** The request that a caller of the gate makes of the approved one. */
  readonly wish?: (approved: Wish) => Wish;
  readonly approve?: readonly ApprovalRule[];
  /** False for a service whose business clock is real time. */
  readonly sandbox?: boolean;
}

/** Makes a lane's turn on bills that the service shows as they were planned. */
export function lease(store: Store, runId: string, changes: LeaseChanges = {}): Promise<Turn> {
  const businessId = "biz_1";
  const { by = "worker-1", limit = 20, leaseMs = 60_000, limits = NO_LIMITS } = changes;
  const { wish = (approved) => approved, approve = [] } = changes;
  const { serviceMs = 5_000, serviceOffMs = 0, businessMs = 5_000, sandbox = true } = changes;
  return store.transactionOf(businessId, async (trx) => {
    const leased = await leaseLines(trx, { runId, businessId, by, limit, leaseMs, serviceMs });
    // Ahead of every process's clock, so that none of it passes while the test runs.
    const realMs = Date.now() + 3_600_000;
    const times = { businessMs, serviceMs, serviceOffMs, realMs };
    const clock = new ClockReading({ ...times, serviceHeard: true, sandbox });
    const reading = {
      begunAtMs: await databaseNowMs(trx),
      begunServiceMs: serviceMs,
      ...{ isWhole: true, shownIds: [], shown: [] },
    };
    const requests = leased.lines.map(({ line, plan }) => ({
      subject: line.payableId,
      wish: wish(payRequest(plan, { owner: runId, runId }, plan.executionDate)),
      reading,
      record: plan.record,
    }));
    const paying = { owner: runId, businessId, runId, playbook: "weekly", limits, approve };
    const answers = await askGate(
      trx,
      { businessId, operation: pay, sentBy: by, owner: runId, clock },
      requests,
      (within, ...wanted) =>
        mayPay(within, { ...paying, debitAcceptedAt: "2026-01-05" }, ...wanted),
    );
    const closed = [...answers].flatMap(([id, answer]) =>
      answer.kind === "closed" ? [[id, answer.closed.code]] : [],
    );
    const sent = [...answers].flatMap(([id, { kind }]) => (kind === "open" ? [id] : []));
    return { ...leased, sent, closed: Object.fromEntries(closed) as Record<string, string> };
  });
}
