import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { OPEN_TOP_UP_STATES } from "../../src/contracts/top-up.ts";
import { topUpFailed } from "../../src/domain/notices/top-up-texts.ts";
import { nextPollMs } from "../../src/domain/payments/poll-times.ts";
import { endAttempt } from "../../src/store/attempt-writes.ts";
import { appendAudit } from "../../src/store/audit.ts";
import { raiseNotice } from "../../src/store/notices.ts";
import type { Tables } from "../../src/store/tables.ts";
import { changeTopUp, depositIds, type TopUp } from "../../src/store/top-ups.ts";
import { setWait } from "../../src/store/waits.ts";
import type { ActivityContext } from "../context.ts";
import type { DepositJob, DepositOutcome } from "./job.ts";

/**
 * Writes what working on a deposit came to: its attempt's final answer and where the request
 * stands, in one transaction.
 */
export async function recordDeposit(
  context: ActivityContext,
  { topUp }: DepositJob,
  outcome: DepositOutcome,
): Promise<void> {
  const clock = await context.clockOf(topUp.business).now();
  await context.store.transactionOf(topUp.businessId, async (trx) => {
    switch (outcome.kind) {
      case "made":
        return recordMade(trx, topUp, outcome, clock);
      case "refused": {
        const { attempt, reason } = outcome;
        await endAttempt(trx, attempt, { as: "released", answer: reason }, clock.realMs);
        return endTopUp(trx, topUp, reason, clock);
      }
      case "next-key":
        await endAttempt(trx, outcome.attempt, { as: "dead", answer: "not made" }, clock.realMs);
        return backToProposed(trx, topUp, null, clock);
      case "back": {
        const { attempt, reason } = outcome;
        await endAttempt(trx, attempt, { as: "released", answer: reason }, clock.realMs);
        return backToProposed(trx, topUp, reason, clock);
      }
      case "rest": {
        const { notBeforeMs, reason, code } = outcome;
        const change = { notBeforeMs, reason, reasonCode: code ?? null };
        await changeTopUp(trx, topUp, ["proposed", "sending"], change, clock.realMs);
        return;
      }
      case "business-wait": {
        const { code, message, retryAfterMs } = outcome;
        await setWait(trx, {
          businessId: topUp.businessId,
          sourceId: "",
          code,
          message,
          nowMs: clock.serviceMs,
          realMs: clock.realMs,
          ...(retryAfterMs === null ? {} : { retryAtMs: clock.serviceMs + retryAfterMs }),
        });
        const notBeforeMs = clock.serviceMs + (retryAfterMs ?? 15_000);
        const change = { notBeforeMs, reason: message };
        await changeTopUp(trx, topUp, ["proposed", "sending"], change, clock.realMs);
      }
    }
  });
}

/** How long a deposit that may not be sent now is left alone: what stops it is lifted by a person. */
const CLOSED_REST_MS = 300_000;
const SHORT_REST_MS = 2_000;

/** Leaves a deposit alone for a while, and says why; without a reason somebody else is at it. */
export async function restDeposit(
  context: ActivityContext,
  topUp: TopUp,
  reason?: string,
): Promise<void> {
  const clock = await context.clockOf(topUp.business).now();
  const isShort = clock.sandbox || reason === undefined;
  const restMs = isShort ? SHORT_REST_MS : CLOSED_REST_MS;
  const change = {
    ...(reason === undefined ? {} : { reason }),
    notBeforeMs: clock.serviceMs + restMs,
    pollAtMs: clock.businessMs + restMs * clock.scale,
  };
  await context.store.transactionOf(topUp.businessId, (trx) =>
    changeTopUp(trx, topUp, OPEN_TOP_UP_STATES, change, clock.realMs),
  );
}

async function recordMade(
  trx: Transaction<Tables>,
  topUp: TopUp,
  made: Extract<DepositOutcome, { kind: "made" }>,
  clock: ClockReading,
): Promise<void> {
  const { attempt, transactionId, answer } = made;
  // Two requests that had no answer may both have found the one deposit that was made.
  if ((await depositIds(trx, topUp.businessId)).includes(transactionId)) return;
  const as = answer === "2xx" ? "applied" : "adopted";
  const ending = { as, answer, sends: attempt.sends, paymentIds: [transactionId] } as const;
  const isLive = await endAttempt(trx, attempt, ending, clock.realMs);
  if (!isLive) return;
  const sinceMs = clock.businessMs;
  const pollAtMs = nextPollMs(sinceMs, sinceMs, clock.scale);
  const change = { state: "on-its-way", transactionId, reason: null, sinceMs, pollAtMs } as const;
  await changeTopUp(trx, topUp, ["sending"], { ...change, reasonCode: null }, clock.realMs);
  await appendAudit(trx, {
    businessId: topUp.businessId,
    nowMs: clock.realMs,
    actor: topUp.owner,
    action: "top-up.made",
    subject: topUp.subject,
    details: {
      amountCents: attempt.amountCents,
      transactionId,
      key: attempt.idempotencyKey,
      answer,
    },
  });
}

async function backToProposed(
  trx: Transaction<Tables>,
  topUp: TopUp,
  reason: string | null,
  clock: ClockReading,
): Promise<void> {
  const change = { state: "proposed", reason, reasonCode: null, notBeforeMs: 0 } as const;
  await changeTopUp(trx, topUp, ["sending"], change, clock.realMs);
}

/** The request has come to nothing; whoever needs the money still may ask again, under a new approval. */
export async function endTopUp(
  trx: Transaction<Tables>,
  topUp: TopUp,
  reason: string,
  clock: ClockReading,
): Promise<void> {
  const change = { state: "failed", reason, sinceMs: clock.businessMs } as const;
  if (!(await changeTopUp(trx, topUp, ["sending", "on-its-way"], change, clock.realMs))) return;
  const { businessId, owner, subject } = topUp;
  await appendAudit(trx, {
    businessId,
    nowMs: clock.realMs,
    actor: owner,
    action: "top-up.failed",
    subject,
    details: { reason, transactionId: topUp.transactionId },
  });
  await raiseNotice(trx, {
    businessId,
    kind: "top-up-failed",
    factKey: subject,
    ...topUpFailed(topUp, reason),
    roles: topUp.approvers,
    data: { id: owner, amountCents: topUp.amountCents, transactionId: topUp.transactionId },
    runId: owner,
    nowMs: clock.realMs,
  });
}
