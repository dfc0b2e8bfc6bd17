import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { OPEN_TOP_UP_STATES } from "../../src/contracts/deposit.ts";
import { type NoticeText } from "../../src/domain/notices/run-texts.ts";
import { topUpFailed, topUpStuck } from "../../src/domain/notices/top-up-texts.ts";
import { UNANSWERED_NOTICE_AFTER_MS } from "../../src/domain/payments/late.ts";
import { nextPollMs } from "../../src/domain/payments/poll-times.ts";
import { isOpenSubject } from "../../src/store/payables/open-subjects.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { changeTopUp, moveTopUp, type TopUp } from "../../src/store/deposits/deposits.ts";
import { waitForEnd } from "../shared/business-fault.ts";
import { backOff } from "../shared/back-off.ts";
import type { DepositOutcome } from "./job.ts";

/**
 * Writes where a request stands, in the transaction that writes what the ledger knows of it. If a
 * deposit can't be on its way any more, another may be requested.
 */
export async function recordDeposit(
  trx: Transaction<Tables>,
  topUp: TopUp,
  outcome: DepositOutcome,
  clock: ClockReading,
): Promise<void> {
  const { businessId } = topUp;
  switch (outcome.kind) {
    case "made":
      return recordMade(trx, topUp, outcome, clock);
    case "refused":
      return endTopUp(trx, topUp, outcome.reason, clock);
    case "back-off":
      return backOffDeposit(trx, topUp, outcome, clock);
    case "business-wait": {
      const { message, retryAfterMs } = outcome;
      await backOffDeposit(trx, topUp, backOff(retryAfterMs ?? BUSINESS_WAIT_MS, message), clock);
      await waitForEnd(trx, { businessId }, outcome, clock);
    }
  }
}

const BUSINESS_WAIT_MS = 15_000;

/** How long a deposit that may not be sent now is left alone: a person lifts what stops it. */
const CLOSED_WAIT_MS = 300_000;

/**
 * Leaves a deposit alone for a while, says why, and notifies operators once that has lasted an
 * hour.
 */
export async function backOffDeposit(
  trx: Transaction<Tables>,
  topUp: TopUp,
  { waitMs, reason, code }: Extract<DepositOutcome, { kind: "back-off" }>,
  clock: ClockReading,
): Promise<void> {
  const { businessId, subject, state } = topUp;
  const isSent = state === "on-its-way" || (await isOpenSubject(trx, businessId, subject));
  // A deposit that came to nothing and is requested again is still waiting; only a deposit ends
  // that.
  const backOffSinceMs = topUp.backOffSinceMs ?? (reason === null ? null : clock.serviceMs);
  const change = {
    reason,
    reasonCode: code ?? null,
    backOffSinceMs,
    notBeforeMs: clock.serviceMs + waitMs,
    ...(isSent ? {} : ({ state: "proposed" } as const)),
    // A deposit on its way is looked at by the business clock.
    ...(state === "on-its-way" ? { pollAtMs: clock.afterRealMs(waitMs) } : {}),
  };
  const isMine = await changeTopUp(trx, topUp, OPEN_TOP_UP_STATES, change, clock.realMs);
  if (!isMine || reason === null || backOffSinceMs === null) return;
  if (clock.serviceMs - backOffSinceMs < UNANSWERED_NOTICE_AFTER_MS) return;
  await notifyOfLate(trx, topUp, topUpStuck(topUp, reason), clock);
}

/** Notifies operators once of a deposit that makes no progress, and once of one that is late. */
export async function notifyOfLate(
  trx: Transaction<Tables>,
  { businessId, owner, subject, state, amountCents, transactionId }: TopUp,
  text: NoticeText,
  { realMs: nowMs }: ClockReading,
): Promise<void> {
  await raiseNotice(trx, {
    businessId,
    kind: "top-up-late",
    factKey: `${subject}/${state === "on-its-way" ? "on-its-way" : "to-be-made"}`,
    ...text,
    roles: ["operator"],
    data: { id: owner, amountCents, transactionId },
    runId: owner,
    nowMs,
  });
}

export function closedWaitMs(clock: ClockReading): number {
  return clock.soonerMs(CLOSED_WAIT_MS);
}

async function recordMade(
  trx: Transaction<Tables>,
  topUp: TopUp,
  made: Extract<DepositOutcome, { kind: "made" }>,
  clock: ClockReading,
): Promise<void> {
  const { transactionId, answer, key } = made;
  const sinceMs = clock.businessMs;
  const pollAtMs = nextPollMs(clock, sinceMs);
  const change = { state: "on-its-way", transactionId, reason: null, sinceMs, pollAtMs } as const;
  const moved = { ...change, reasonCode: null, backOffSinceMs: null };
  const { amountCents } = topUp;
  const note = { action: "made", amountCents, transactionId, key, answer } as const;
  await moveTopUp(trx, topUp, ["proposed", "sending"], moved, note, clock.realMs);
}

/**
 * Ends a request that has come to nothing. A workflow that still needs the money may ask again,
 * under a new approval.
 */
export async function endTopUp(
  trx: Transaction<Tables>,
  topUp: TopUp,
  reason: string,
  clock: ClockReading,
): Promise<void> {
  const change = { state: "failed", reason, sinceMs: clock.businessMs } as const;
  const { businessId, owner, subject, transactionId } = topUp;
  const from = ["sending", "on-its-way"] as const;
  const note = { action: "failed", reason, transactionId } as const;
  if (!(await moveTopUp(trx, topUp, from, change, note, clock.realMs))) return;
  await raiseNotice(trx, {
    businessId,
    kind: "top-up-failed",
    factKey: subject,
    ...topUpFailed(topUp, reason),
    roles: topUp.approvers,
    data: { id: owner, amountCents: topUp.amountCents, transactionId },
    runId: owner,
    nowMs: clock.realMs,
  });
}
