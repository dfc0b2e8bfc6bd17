import type { RetryFailedPaymentInput } from "../../src/contracts/activities.ts";
import { retryFailedPaymentId, SIGNAL } from "../../src/contracts/names.ts";
import type { Payable, Payment } from "../../src/payments-api/index.ts";
import { appendAudit } from "../../src/store/audit.ts";
import { claimPayables, releaseClaim } from "../../src/store/claims.ts";
import { changeLine, getRunLine, type LineChange, type RunLine } from "../../src/store/lines.ts";
import {
  getRetry,
  updateRetry,
  upsertRetry,
  type Retry,
  type RetryChange,
} from "../../src/store/retries.ts";
import { getRun, type Run } from "../../src/store/runs.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../context.ts";

/** One failed payable with everything read about it at one moment. */
export interface RetryCase {
  readonly business: string;
  readonly businessId: string;
  readonly payableId: string;
  readonly workflowId: string;
  readonly run: Run;
  readonly line: RunLine;
  readonly row: Retry;
  readonly payments: readonly Payment[];
  readonly payable: Payable;
  readonly clock: ClockReading;
  notBeforeMs(): Promise<number>;
  setLine(change: LineChange): Promise<void>;
  update(change: RetryChange): Promise<void>;
  tellRun(context: ActivityContext): Promise<void>;
  /** Ends the case and gives the payable back. */
  end(outcome: string): Promise<void>;
}

export type OpenedCase =
  | { readonly kind: "ours"; readonly case: RetryCase }
  | { readonly kind: "not-ours"; readonly reason: string };

/**
 * Reads a case, taking the payable over where nobody has it: after a late return the run that
 * paid it has ended, and an event starts this owner out of nothing.
 */
export async function openRetryCase(
  context: ActivityContext,
  input: RetryFailedPaymentInput,
): Promise<OpenedCase> {
  const { business, payableId } = input;
  const { businessId } = context.profileOf(business);
  const workflowId = retryFailedPaymentId(business, payableId);
  const clock = await context.clockOf(business).now();
  const { db } = context.store;
  const taken = await takeOver(context, { business, businessId, payableId, workflowId }, clock);
  if (taken.kind === "not-ours") return taken;
  const { run, row } = taken;
  // The flag goes before the look: an event that comes meanwhile sets it again.
  await updateRetry(db, { businessId, payableId }, { look: false }, clock.realMs);
  const client = context.clientOf(business);
  const payments = await client.payments.listAll({ payableId });
  const payable = await client.payables.get(payableId);
  const line = await getRunLine(db, run.runId, payableId);
  if (line === undefined) return { kind: "not-ours", reason: "no run has paid it" };
  const key = { businessId, payableId };
  return {
    kind: "ours",
    case: {
      business,
      businessId,
      payableId,
      workflowId,
      run,
      line,
      row,
      payments,
      payable,
      clock,
      notBeforeMs: async () => {
        const rest = await db
          .selectFrom("run_lines")
          .select(["not_before_ms", "lease_until_ms"])
          .where("run_id", "=", run.runId)
          .where("payable_id", "=", payableId)
          .executeTakeFirst();
        const leaseMs = Math.max(0, (rest?.lease_until_ms ?? 0) - clock.realMs);
        const leasedUntilMs = leaseMs > 0 ? clock.serviceMs + leaseMs : 0;
        return Math.max(rest?.not_before_ms ?? 0, leasedUntilMs);
      },
      setLine: async (change) => {
        await context.store.transaction(async (trx) => {
          await changeLine(trx, line, change, clock.realMs);
          if (change.state === undefined || change.state === line.state) return;
          await appendAudit(trx, {
            businessId,
            nowMs: clock.realMs,
            actor: workflowId,
            action: `line:${change.state}`,
            subject: payableId,
            details: { from: line.state, reason: change.reason ?? null },
          });
        });
      },
      update: async (change) => {
        await updateRetry(db, key, change, clock.realMs);
      },
      tellRun: (to) => tellRun(to, run.runId),
      end: async (outcome) => {
        await context.store.transaction(async (trx) => {
          await updateRetry(
            trx,
            key,
            { phase: "ended", reason: outcome, requested: null },
            clock.realMs,
          );
          await releaseClaim(trx, { ...key, owner: workflowId });
        });
        await tellRun(context, run.runId);
      },
    },
  };
}

interface Subject {
  readonly business: string;
  readonly businessId: string;
  readonly payableId: string;
  readonly workflowId: string;
}

async function takeOver(
  context: ActivityContext,
  subject: Subject,
  clock: ClockReading,
): Promise<
  | { readonly kind: "taken"; readonly run: Run; readonly row: Retry }
  | { readonly kind: "not-ours"; readonly reason: string }
> {
  const { business, businessId, payableId, workflowId } = subject;
  return context.store.transaction(async (trx) => {
    const latest = await trx
      .selectFrom("run_lines")
      .innerJoin("runs", "runs.run_id", "run_lines.run_id")
      .select("run_lines.run_id")
      .where("run_lines.business_id", "=", businessId)
      .where("run_lines.payable_id", "=", payableId)
      .where("run_lines.attempts", ">", 0)
      .orderBy("runs.launched_at_ms", "desc")
      .executeTakeFirst();
    const known = await getRetry(trx, businessId, payableId);
    const runId = latest?.run_id ?? known?.runId ?? null;
    const run = runId === null ? undefined : await getRun(trx, runId);
    if (run === undefined) return { kind: "not-ours", reason: "Payrun has not paid it" };
    const claim = await claimPayables(trx, {
      businessId,
      payableIds: [payableId],
      owner: workflowId,
      nowMs: clock.realMs,
    });
    const owner = claim.refused[0]?.owner;
    if (owner !== undefined) return { kind: "not-ours", reason: `it belongs to ${owner}` };
    const row = await upsertRetry(trx, {
      businessId,
      payableId,
      business,
      workflowId,
      runId: run.runId,
      nowMs: clock.realMs,
    });
    return { kind: "taken", run, row };
  });
}

/** Best effort: the run looks by itself after a while. */
async function tellRun(context: ActivityContext, runId: string): Promise<void> {
  try {
    await context.temporal.workflow.getHandle(runId).signal(SIGNAL.eventsArrived);
  } catch (error) {
    context.log.info("the run could not be told", {
      runId,
      error: error instanceof Error ? error.message : String(error),
    });
  }
}
