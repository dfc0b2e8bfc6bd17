import type { Transaction } from "kysely";
import { LINE, type LineState } from "../../src/contracts/line-states.ts";
import { PAYRUN, byWorkflow } from "../../src/contracts/authors.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { escalatedStage } from "../../src/domain/approvals/stages.ts";
import { lineStuck } from "../../src/domain/notices/late-texts.ts";
import { inDoubt } from "../../src/domain/notices/open-texts.ts";
import { UNANSWERED_NOTICE_AFTER_MS } from "../../src/domain/payments/late.ts";
import { mismatchOf } from "../../src/domain/payments/mismatch.ts";
import { confirmedRecords } from "../../src/ledger/confirmed-records.ts";
import { notedPayment } from "../../src/ledger/notes.ts";
import { noteAnswer, recordResults } from "../../src/ledger/results.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { appendOfLines } from "../../src/store/audit/audit-lines.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import { releaseClaim } from "../../src/store/payables/claims.ts";
import { createHold } from "../../src/store/holds/holds.ts";
import { recordPaidLines } from "../../src/store/lines/line-leases.ts";
import { changeLine, getRunLine, type RunLine } from "../../src/store/lines/lines.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { clearWaits } from "../../src/store/runs/waits.ts";
import { waitForEnd } from "../shared/business-fault.ts";
import type { ActivityContext } from "../shared/context.ts";
import type { PayJob, PayOutcome, PayOwner } from "./job.ts";
import { changeOfLine, stateOfPaid } from "./line-change.ts";

type Applied = PayOutcome & { readonly kind: "applied" };

/** A line that was paid by the answer to its request, or found to be paid. */
export interface PaidJob {
  readonly job: PayJob;
  readonly outcome: Applied;
}

/**
 * Writes what came of paying one line; see `recordPaid` for many that were simply paid.
 *
 * @returns false if the outcome doesn't apply any more: a later lease has the line, or the payments
 * are recorded already
 */
export async function recordOutcome(
  context: ActivityContext,
  owner: PayOwner,
  job: PayJob,
  outcome: PayOutcome,
): Promise<boolean> {
  const clock = await context.clockOf(owner.business).now();
  return context.store.transactionOf(owner.businessId, (trx) =>
    writeOutcome(trx, owner, job, outcome, clock),
  );
}

/** As `recordOutcome`, in the caller's transaction. */
export async function writeOutcome(
  trx: Transaction<Tables>,
  owner: PayOwner,
  job: PayJob,
  given: PayOutcome,
  clock: ClockReading,
): Promise<boolean> {
  const { businessId } = owner;
  const outcome = await unlessSaid(trx, owner, job, given);
  if (outcome.kind === "applied") {
    // It has been recorded meanwhile: what has happened to the line since then stays.
    if (await isRecorded(trx, job.line, outcome.paymentIds)) return noteAlone(trx, outcome);
  }
  const change = changeOfLine(owner, job, outcome, clock);
  // A payment counts in any case; any other outcome only while no later lease has the line.
  const guard =
    outcome.kind === "applied"
      ? { from: LINE.unfollowed }
      : { epoch: job.line.leaseEpoch, ...(owner.lines.onlyAsLeased && { from: [job.line.state] }) };
  const mine = await changeLine(
    trx,
    job.line,
    { ...change, releaseLease: true },
    clock.realMs,
    guard,
  );
  if (!mine) return noteAlone(trx, outcome);
  await sideEffects(trx, owner, job, outcome, clock);
  await owner.lines.also(trx, owner, job, outcome, clock);
  if (outcome.kind === "back" || change.state === undefined) return true;
  await appendAudit(trx, {
    businessId,
    nowMs: clock.realMs,
    actor: byWorkflow(owner.owner),
    action: `line:${change.state}`,
    subject: job.plan.payableId,
    details: { outcome: outcome.kind, reasonCode: change.reasonCode, ...auditDetails(outcome) },
  });
  return true;
}

/** Asks about no record of which somebody has said since the gate judged that it is right. */
async function unlessSaid(
  trx: Transaction<Tables>,
  { runId }: PayOwner,
  { line, plan }: PayJob,
  outcome: PayOutcome,
): Promise<PayOutcome> {
  if (outcome.kind !== "record-changed") return outcome;
  const confirmed = await confirmedRecords(trx, await getRun(trx, runId), [plan.contactId]);
  const isSaid = confirmed.covers(plan, escalatedStage(line), outcome.record);
  return isSaid ? { kind: "back", waitMs: 0, reason: SAID } : outcome;
}

const SAID = "Somebody has said that the vendor's account is still right.";

/** Notes the answer of a request whose outcome changes no line. @returns false */
async function noteAlone(trx: Transaction<Tables>, outcome: PayOutcome): Promise<false> {
  const isAnswer = outcome.kind === "applied" && outcome.sent !== null;
  if (isAnswer) await noteAnswer(trx, outcome.sent);
  return false;
}

/** True if a line has these payments already. */
async function isRecorded(
  trx: Transaction<Tables>,
  { runId, payableId }: PayJob["line"],
  paymentIds: readonly string[],
): Promise<boolean> {
  const line = await getRunLine(trx, runId, payableId);
  return paymentIds.every((id) => line?.paymentIds.includes(id) === true);
}

async function sideEffects(
  trx: Transaction<Tables>,
  owner: PayOwner,
  { line, plan }: PayJob,
  outcome: PayOutcome,
  clock: ClockReading,
): Promise<void> {
  const { businessId } = owner;
  const { payableId, funding } = plan;
  switch (outcome.kind) {
    case "business-wait": {
      const sourceId = outcome.scope === "source" ? funding.sourceId : "";
      await waitForEnd(trx, { businessId, sourceId }, outcome, clock);
      return;
    }
    case "unknown":
    case "back":
      await notifyOfStuck(trx, line, outcome, clock);
      return;
    case "applied":
      await clearWaits(trx, { businessId, sourceId: funding.sourceId, realMs: clock.realMs });
      await appendAudit(trx, {
        businessId,
        nowMs: clock.realMs,
        actor: byWorkflow(owner.owner),
        subject: payableId,
        action: outcome.found ? "attempt.adopted" : "attempt.answered",
        details: {
          result: "applied",
          ...answered(outcome, stateOfPaid(outcome.payments, plan.amountCents)),
        },
      });
      await alarmOnMismatch(trx, { line, plan }, outcome.payments, clock);
      return;
    case "paid-elsewhere":
      await releaseClaim(trx, { businessId, payableId, owner: owner.owner });
      return;
    default:
      return;
  }
}

/** Writes the outcomes of one run's lines that were paid by the answers to their requests. */
export async function recordPaid(
  trx: Transaction<Tables>,
  owner: PayOwner,
  paid: readonly PaidJob[],
  clock: ClockReading,
): Promise<void> {
  if (paid.length === 0) return;
  const { businessId } = owner;
  const sent = paid.flatMap(({ outcome }) => outcome.sent ?? []);
  await recordResults(trx, businessId, sent);
  const judged = paid.map(({ job, outcome }) => ({
    job,
    outcome,
    state: stateOfPaid(outcome.payments, job.plan.amountCents),
  }));
  const lines = judged.map(({ job, outcome: { paymentIds }, state }) => ({
    runId: job.line.runId,
    payableId: job.plan.payableId,
    state,
    paymentIds: [...new Set([...job.line.paymentIds, ...paymentIds])],
  }));
  const times = { pollAtMs: Math.round(clock.businessMs), nowMs: clock.realMs };
  await recordPaidLines(trx, lines, times);
  for (const sourceId of new Set(paid.map(({ job }) => job.plan.funding.sourceId))) {
    await clearWaits(trx, { businessId, sourceId, realMs: clock.realMs });
  }
  for (const { job, outcome } of paid) await alarmOnMismatch(trx, job, outcome.payments, clock);
  await appendOfLines(trx, {
    businessId,
    runId: owner.runId,
    nowMs: clock.realMs,
    actor: byWorkflow(owner.owner),
    action: "attempt.answered",
    details: { result: "applied" },
    lines: judged.map(({ job, outcome, state }) => ({
      payableId: job.plan.payableId,
      lineNo: job.line.lineNo,
      details: answered(outcome, state),
    })),
  });
}

function answered({ payments, sent }: Applied, line: LineState) {
  return {
    attemptId: sent?.send.attemptId,
    seq: sent?.send.seq,
    send: sent?.send.sendNo,
    madeIds: sent?.madeIds,
    line,
    payments: payments.map(notedPayment),
  };
}

/**
 * Returns the reason in our own words: the service's words may name people, and stay with the
 * attempt.
 */
function auditDetails(outcome: PayOutcome): Record<string, unknown> {
  switch (outcome.kind) {
    case "paid-elsewhere":
    case "changed":
      return { reason: outcome.reason };
    case "business-wait":
      return { code: outcome.code, scope: outcome.scope };
    default:
      return {};
  }
}

/**
 * Compares what was made with what was approved. If they differ, nothing more is leased, and
 * operators are notified.
 */
async function alarmOnMismatch(
  trx: Transaction<Tables>,
  { line, plan }: PayJob,
  payments: readonly Payment[],
  clock: ClockReading,
): Promise<void> {
  // Payments that aren't shown yet are compared once they are.
  const wrong = payments.length === 0 ? null : mismatchOf(plan, payments);
  if (wrong === null) return;
  const { businessId, payableId, runId } = line;
  const reason = `Payments made for ${payableId} are not what was approved: ${wrong}. Its run is on hold.`;
  const hold = { businessId, scope: "run", value: runId, reason, nowMs: clock.realMs } as const;
  await createHold(trx, { ...hold, author: PAYRUN });
  await raiseNotice(trx, {
    businessId,
    kind: "payment-in-doubt",
    factKey: `${runId}/${payableId}/${payments.map(({ id }) => id).join()}`,
    ...inDoubt(payableId, reason),
    roles: ["operator"],
    data: { payableId },
    runId,
    nowMs: clock.realMs,
  });
}

/** Notifies operators, once, of a line that has made no progress in an hour of tries. */
async function notifyOfStuck(
  trx: Transaction<Tables>,
  line: Pick<RunLine, "businessId" | "runId" | "payableId" | "amountCents" | "backOffSinceMs">,
  backOff: { readonly kind: "unknown" | "back"; readonly reason: string },
  clock: ClockReading,
): Promise<void> {
  const { businessId, payableId, backOffSinceMs, runId } = line;
  if (backOffSinceMs === null || clock.serviceMs - backOffSinceMs < UNANSWERED_NOTICE_AFTER_MS)
    return;
  await raiseNotice(trx, {
    businessId,
    kind: "payment-late",
    factKey: `${runId}/${payableId}/stuck/${backOffSinceMs}`,
    ...lineStuck(line, backOff),
    roles: ["operator"],
    data: { count: 1, payableIds: [payableId] },
    runId,
    nowMs: clock.realMs,
  });
}
