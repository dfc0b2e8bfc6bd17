import type { Transaction } from "kysely";
import { notedPayment } from "../../src/store/attempt-writes.ts";
import { appendOfLines } from "../../src/store/audit-lines.ts";
import { endAppliedAttempts, recordPaidLines } from "../../src/store/paid-lines.ts";
import type { Tables } from "../../src/store/tables.ts";
import { clearWaits } from "../../src/store/waits.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { PayJob, PayOutcome } from "./job.ts";
import { alarmOnMismatch, stateOf } from "./record-outcome.ts";

/** A line of a run that was paid by the first answer to its first request. */
export interface PaidJob {
  readonly job: PayJob;
  readonly outcome: PayOutcome & { readonly kind: "applied" };
}

/**
 * Writes what lines of one run came to that were paid, many at once; see `recordOutcome`, which
 * does the same for one line, whatever it came to.
 */
export async function recordPaid(
  trx: Transaction<Tables>,
  paid: readonly PaidJob[],
  clock: ClockReading,
): Promise<void> {
  const [first] = paid;
  if (first === undefined) return;
  const { businessId, owner } = first.job;
  const lines = paid.map(({ job, outcome: { payments } }) => ({
    runId: job.line.runId,
    payableId: job.plan.payableId,
    leaseEpoch: job.line.leaseEpoch,
    state: stateOf(payments, job),
    paymentIds: [...new Set([...job.line.paymentIds, ...payments.map(({ id }) => id)])],
  }));
  const times = { pollAtMs: Math.round(clock.businessMs), nowMs: clock.realMs };
  const written = await recordPaidLines(trx, lines, times);
  const mine = paid.filter(({ job }) => written.has(job.plan.payableId));
  const attempts = mine.map(({ outcome: { attempt, payments } }) => ({
    attemptId: attempt.attemptId,
    sends: attempt.sends,
    paymentIds: payments.map(({ id }) => id),
  }));
  await endAppliedAttempts(trx, attempts, clock.realMs);
  for (const sourceId of new Set(mine.map(({ job }) => job.plan.funding.sourceId))) {
    await clearWaits(trx, { businessId, sourceId, realMs: clock.realMs });
  }
  for (const { job, outcome } of mine) await alarmOnMismatch(trx, job, outcome.payments, clock);
  await appendOfLines(trx, {
    businessId,
    runId: first.job.line.runId,
    nowMs: clock.realMs,
    actor: owner,
    action: "attempt.answered",
    details: { result: "applied" },
    lines: mine.map(({ job, outcome: { attempt, payments } }) => ({
      payableId: job.plan.payableId,
      lineNo: job.line.lineNo,
      details: {
        attemptId: attempt.attemptId,
        seq: attempt.seq,
        line: stateOf(payments, job),
        payments: payments.map(notedPayment),
      },
    })),
  });
}

/** True where nothing but success is to be recorded of a line. */
export function isPlainlyPaid(job: PayJob, outcome: PayOutcome): outcome is PaidJob["outcome"] {
  return outcome.kind === "applied" && !outcome.found && job.owner === job.line.runId;
}
