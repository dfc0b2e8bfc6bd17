import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { OPEN_TOP_UP_STATES } from "../../src/contracts/top-up.ts";
import { topUpFailed } from "../../src/domain/notices/top-up-texts.ts";
import { nextPollMs } from "../../src/domain/payments/poll-times.ts";
import { appendAudit } from "../../src/store/audit.ts";
import { openSubjects } from "../../src/store/open-subjects.ts";
import { raiseNotice } from "../../src/store/notices.ts";
import type { Tables } from "../../src/store/tables.ts";
import { changeTopUp, type TopUp } from "../../src/store/top-ups.ts";
import { setWait } from "../../src/store/waits.ts";
import type { ActivityContext } from "../context.ts";
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
      const { notBeforeMs, reason } = restOf(outcome, clock);
      const open = await openSubjects(trx, businessId, [subject]);
      const reasonCode = outcome.kind === "rest" ? (outcome.code ?? null) : null;
      const state = open.has(subject) ? {} : ({ state: "proposed" } as const);
      const change = { notBeforeMs, reason, reasonCode, ...state };
      await changeTopUp(trx, topUp, ["proposed", "sending"], change, clock.realMs);
      if (outcome.kind === "business-wait") await waitForBusiness(trx, businessId, outcome, clock);
    }
  }
}

const BUSINESS_WAIT_MS = 15_000;

function restOf(
  outcome: Extract<DepositOutcome, { readonly kind: "rest" | "business-wait" }>,
  { serviceMs }: ClockReading,
): { readonly notBeforeMs: number; readonly reason: string | null } {
  if (outcome.kind === "rest") return outcome;
  const restMs = outcome.retryAfterMs ?? BUSINESS_WAIT_MS;
  return { notBeforeMs: serviceMs + restMs, reason: outcome.message };
}

async function waitForBusiness(
  trx: Transaction<Tables>,
  businessId: string,
  { code, message, retryAfterMs }: Extract<DepositOutcome, { readonly kind: "business-wait" }>,
  clock: ClockReading,
): Promise<void> {
  await setWait(trx, {
    businessId,
    sourceId: "",
    code,
    message,
    nowMs: clock.serviceMs,
    realMs: clock.realMs,
    ...(retryAfterMs === null ? {} : { retryAtMs: clock.serviceMs + retryAfterMs }),
  });
}

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
  if (!(await changeTopUp(trx, topUp, ["proposed", "sending"], moved, clock.realMs))) return;
  await appendAudit(trx, {
    businessId: topUp.businessId,
    nowMs: clock.realMs,
    actor: topUp.owner,
    action: "top-up.made",
    subject: topUp.subject,
    details: {
      amountCents: topUp.amountCents,
      transactionId,
      key,
      answer,
    },
  });
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
