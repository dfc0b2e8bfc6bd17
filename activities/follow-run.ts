import { retryFailedPaymentId } from "../src/contracts/names.ts";
import type { LineState } from "../src/contracts/pay-run.ts";
import { lineStateOfPayments } from "../src/domain/payments/payment-states.ts";
import { nextPollMs } from "../src/domain/payments/poll-times.ts";
import type { Payment } from "../src/payments-api/index.ts";
import { appendAudit } from "../src/store/audit.ts";
import { attemptsOf } from "../src/store/attempts.ts";
import { handOverClaim } from "../src/store/claims.ts";
import { changeLine, linesInStates, type RunLine } from "../src/store/lines.ts";
import { getRetry, updateRetry, upsertRetry } from "../src/store/retries.ts";
import { getRun, type Run } from "../src/store/runs.ts";
import { moveWatch } from "../src/store/watches.ts";
import type { ClockReading } from "../src/business/clock.ts";
import type { ActivityContext } from "./context.ts";
import { readOrWait } from "./read-or-wait.ts";
import { paymentsOfPayables } from "./payments-of-payables.ts";
import { watchScheduled } from "./safety-net.ts";
import { signalRetry } from "./signal-retry.ts";

const FOLLOWED: readonly LineState[] = ["scheduled", "held", "processing"];

/**
 * Reads the payments of lines that an event or the time of a poll asks about, and moves the lines
 * to what the bank says. Webhooks make this fast; the polls make it certain.
 */
export async function followRun(
  context: ActivityContext,
  runId: string,
): Promise<{ readonly changed: number }> {
  const run = await getRun(context.store.db, runId);
  if (run === undefined) throw new Error(`run ${runId} is not in the store`);
  const clock = await context.clockOf(run.business).now();
  const lines = (await linesInStates(context.store.db, runId, [...FOLLOWED, "settled"])).filter(
    (line) =>
      line.look ||
      // Settled lines are looked at only when told, and again where that look was not finished.
      (line.state === "settled" ? line.pollAtMs === 0 : line.pollAtMs <= clock.businessMs),
  );
  if (lines.length === 0) return { changed: 0 };
  // The flag goes before the look: an event that comes meanwhile sets it again.
  // Where the look itself fails, the due poll makes the next try read the same lines.
  for (const line of lines.filter((each) => each.look)) {
    await changeLine(context.store.db, line, { look: false, pollAtMs: 0 }, clock.realMs);
  }
  const byPayable = await readOrWait(context, run, () =>
    paymentsOfPayables(
      context.clientOf(run.business),
      lines.map((line) => line.payableId),
    ),
  );
  if (byPayable === undefined) return { changed: 0 };
  await watchScheduled(context, run, lines, byPayable, clock);
  let changed = 0;
  for (const line of lines) {
    if (await follow(context, run, line, byPayable.get(line.payableId) ?? [], clock)) changed += 1;
  }
  return { changed };
}

async function follow(
  context: ActivityContext,
  run: Run,
  line: RunLine,
  payments: readonly Payment[],
  clock: ClockReading,
): Promise<boolean> {
  const mine = payments.filter((payment) => line.paymentIds.includes(payment.id));
  const outcome = lineStateOfPayments(mine, line.amountCents);
  const pollAtMs = nextPollMs(
    clock.businessMs,
    await changedAtMs(context, line, mine),
    clock.scale,
  );
  if (outcome.kind === "failed" && !outcome.othersOnTheirWay) {
    await handOverToRetry(context, run, line, clock);
    return true;
  }
  if (
    outcome.kind === "failed" ||
    (outcome.kind === "partial" && mine.length < line.paymentIds.length)
  ) {
    await changeLine(context.store.db, line, { pollAtMs }, clock.realMs, { from: [line.state] });
    return false;
  }
  const state = outcome.kind === "partial" ? "parked" : outcome.state;
  const reason = outcome.text;
  if (state === line.state) {
    const said = reason === null ? {} : { reason };
    await changeLine(context.store.db, line, { pollAtMs, ...said }, clock.realMs, {
      from: [line.state],
    });
    return false;
  }
  const reasonCode = outcome.kind === "partial" ? "partly-paid" : null;
  return context.store.transactionOf(run.businessId, async (trx) => {
    const moved = await changeLine(
      trx,
      line,
      { state, reason, reasonCode, pollAtMs },
      clock.realMs,
      { from: [line.state] },
    );
    if (moved) {
      await appendAudit(trx, {
        businessId: run.businessId,
        nowMs: clock.realMs,
        actor: run.runId,
        action: `line:${state}`,
        subject: line.payableId,
        details: { from: line.state, payments: mine.map(({ id, status }) => ({ id, status })) },
      });
    }
    return moved;
  });
}

/** When the line's payments changed last; for what the service doesn't show yet, when it was sent. */
async function changedAtMs(
  context: ActivityContext,
  line: RunLine,
  mine: readonly Payment[],
): Promise<number> {
  const times = mine
    .map(({ updatedAt, createdAt }) => Date.parse(updatedAt ?? createdAt ?? ""))
    .filter((ms) => !Number.isNaN(ms));
  if (times.length > 0) return Math.max(...times);
  const attempts = await attemptsOf(context.store.db, line.businessId, line.payableId);
  return attempts.at(-1)?.lastSentAtMs ?? 0;
}

/** A failed or returned bill gets an owner of its own, which keeps its claim from here on. */
async function handOverToRetry(
  context: ActivityContext,
  run: Run,
  line: RunLine,
  clock: ClockReading,
): Promise<void> {
  const workflowId = retryFailedPaymentId(run.business, line.payableId);
  await context.store.transactionOf(run.businessId, async (trx) => {
    const { businessId, business, runId } = run;
    const { payableId } = line;
    await handOverClaim(trx, { businessId, payableId, from: runId, to: workflowId });
    await moveWatch(trx, { businessId, payableId, owner: workflowId });
    const nowMs = clock.realMs;
    const known = await getRetry(trx, businessId, payableId);
    await upsertRetry(trx, { businessId, payableId, business, workflowId, runId, nowMs });
    if (known !== undefined && known.runId !== runId) {
      // Another run's payment is another entry: its retries are counted from the start.
      const anew = { phase: "planning", retriesMade: 0, retryOn: null, requested: null };
      await updateRetry(trx, { businessId, payableId }, anew, nowMs);
    }
  });
  // The line stays as it is until its owner runs: a crash before that is made good by the next look.
  await signalRetry(context, run.business, line.payableId);
  await context.store.transactionOf(run.businessId, async (trx) => {
    const pollAtMs = clock.businessMs;
    const change = { state: "retrying", look: false, pollAtMs } as const;
    if (!(await changeLine(trx, line, change, clock.realMs, { from: [line.state] }))) return;
    await appendAudit(trx, {
      businessId: run.businessId,
      nowMs: clock.realMs,
      actor: run.runId,
      action: "handed-to-retry",
      subject: line.payableId,
      details: { workflowId },
    });
  });
}
