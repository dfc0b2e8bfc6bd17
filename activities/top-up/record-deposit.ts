import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { OPEN_TOP_UP_STATES } from "../../src/contracts/top-up.ts";
import { topUpFailed } from "../../src/domain/notices/top-up-texts.ts";
import { nextPollMs } from "../../src/domain/payments/poll-times.ts";
import { isOpenSubject } from "../../src/store/open-subjects.ts";
import { raiseNotice } from "../../src/store/notices.ts";
import type { Tables } from "../../src/store/tables.ts";
import { changeTopUp, moveTopUp, type TopUp } from "../../src/store/top-ups.ts";
import { waitForEnd } from "../business-fault.ts";
import type { ActivityContext } from "../context.ts";
import { rest } from "../rest.ts";
import type { DepositOutcome } from "./job.ts";

/**
 * Writes where a request stands, in the transaction that writes what the ledger knows of it. Of what
 * can't be on its way any more, something may be asked anew.
 */
export async function recordDeposit(
  trx: Transaction<Tables>,
  topUp: TopUp,
  outcome: DepositOutcome,
  clock: ClockReading,
): Promise<void> {
  const { businessId, subject } = topUp;
  switch (outcome.kind) {
    case "made":
      return recordMade(trx, topUp, outcome, clock);
    case "refused":
      return endTopUp(trx, topUp, outcome.reason, clock);
    case "rest":
    case "business-wait": {
      const { restMs, reason } =
        outcome.kind === "rest"
          ? outcome
          : rest(outcome.retryAfterMs ?? BUSINESS_WAIT_MS, outcome.message);
      const isOpen = await isOpenSubject(trx, businessId, subject);
      const reasonCode = outcome.kind === "rest" ? (outcome.code ?? null) : null;
      const state = isOpen ? {} : ({ state: "proposed" } as const);
      const notBeforeMs = clock.serviceMs + restMs;
      const change = { notBeforeMs, reason, reasonCode, ...state };
      await changeTopUp(trx, topUp, ["proposed", "sending"], change, clock.realMs);
      if (outcome.kind === "business-wait") await waitForEnd(trx, { businessId }, outcome, clock);
    }
  }
}

const BUSINESS_WAIT_MS = 15_000;

/** How long a deposit that may not be sent now is left alone: what stops it is lifted by a person. */
const CLOSED_REST_MS = 300_000;
const SHORT_REST_MS = 2_000;

/** Leaves a deposit alone for a while, and says why. */
export async function restDeposit(
  context: ActivityContext,
  topUp: TopUp,
  reason: string,
): Promise<void> {
  const clock = await context.clockOf(topUp.business).now();
  const restMs = closedRestMs(clock);
  const pollAtMs = clock.businessMs + restMs * clock.scale;
  const change = { reason, notBeforeMs: clock.serviceMs + restMs, pollAtMs };
  await context.store.transactionOf(topUp.businessId, (trx) =>
    changeTopUp(trx, topUp, OPEN_TOP_UP_STATES, change, clock.realMs),
  );
}

export function closedRestMs({ sandbox }: ClockReading): number {
  return sandbox ? SHORT_REST_MS : CLOSED_REST_MS;
}

async function recordMade(
  trx: Transaction<Tables>,
  topUp: TopUp,
  made: Extract<DepositOutcome, { kind: "made" }>,
  clock: ClockReading,
): Promise<void> {
  const { transactionId, answer, key } = made;
  const sinceMs = clock.businessMs;
  const pollAtMs = nextPollMs(sinceMs, sinceMs, clock.scale);
  const change = { state: "on-its-way", transactionId, reason: null, sinceMs, pollAtMs } as const;
  const moved = { ...change, reasonCode: null };
  const { amountCents } = topUp;
  const note = { action: "made", amountCents, transactionId, key, answer } as const;
  await moveTopUp(trx, topUp, ["proposed", "sending"], moved, note, clock.realMs);
}

/** The request has come to nothing; whoever needs the money still may ask again, under a new approval. */
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
