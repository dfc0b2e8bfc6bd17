import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { LINE } from "../../src/contracts/line-states.ts";
import { ENDED_PHASES } from "../../src/contracts/pay-run.ts";
import { claimPayables, handOverClaim } from "../../src/store/payables/claims.ts";
import { getRetry, updateRetry, upsertRetry, type Retry } from "../../src/store/retries/retries.ts";
import { getRun, type Run } from "../../src/store/runs/runs.ts";
import { type PaidLine, paidLines } from "../../src/store/lines/retry-cases.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { moveSubscription } from "../../src/store/payables/subscriptions.ts";
import type { ActivityContext } from "../shared/context.ts";
import { parkOtherParts } from "./other-parts.ts";

/** The payable of a case and the workflow that would own it. */
export interface CaseSubject {
  readonly business: string;
  readonly businessId: string;
  readonly payableId: string;
  readonly workflowId: string;
}

/** What a payment of the payable shows of the run that a case is about. */
export interface PaymentOfCase {
  readonly id: string;
  readonly status: string;
  readonly failureReason?: string | null | undefined;
}

type Taken =
  | { readonly kind: "taken"; readonly run: Run; readonly row: Retry }
  | { readonly kind: "not-ours"; readonly reason: string; readonly isExternal?: boolean };

/**
 * Makes the workflow the owner of its payable, if no run and no other workflow has it.
 *
 * Several runs may have paid a bill in parts. The case is about the run whose failure is looked
 * after already, or else about the one whose settled payment has changed since.
 *
 * @param payments all that the service has for the payable
 */
export async function takeOver(
  context: ActivityContext,
  subject: CaseSubject,
  payments: readonly PaymentOfCase[],
  clock: ClockReading,
): Promise<Taken> {
  const { business, businessId, payableId, workflowId } = subject;
  const nowMs = clock.realMs;
  return context.store.transactionOf(businessId, async (trx) => {
    const paid = await paidLines(trx, subject);
    const known = await getRetry(trx, businessId, payableId);
    const changed = paid.filter((line) => hasChanged(line, payments, known));
    const runId =
      runOfCase(known, paid) ?? changed[0]?.runId ?? paid[0]?.runId ?? known?.runId ?? null;
    const run = runId === null ? undefined : await getRun(trx, runId);
    if (run === undefined) {
      return { kind: "not-ours", reason: "Payrun has not paid it", isExternal: true };
    }
    const owner = await otherOwner(trx, subject, nowMs);
    const others = changed.filter((line) => line.runId !== (owner ?? run.runId));
    await parkOtherParts(trx, {
      subject,
      payments,
      runIds: others.map((line) => line.runId),
      nowMs,
    });
    if (owner !== undefined) return { kind: "not-ours", reason: `it belongs to ${owner}` };
    await moveSubscription(trx, { businessId, payableId, owner: workflowId });
    const row = await upsertRetry(trx, { ...subject, business, runId: run.runId, nowMs });
    if (known === undefined || known.runId === null || known.runId === run.runId) {
      return { kind: "taken", run, row };
    }
    // Another run's payment is another entry, so its retries are counted from the start.
    const anew = {
      phase: "planning",
      reasonCode: null,
      reason: null,
      retriesMade: 0,
      retryOn: null,
      approvalEnded: null,
    };
    await updateRetry(trx, { businessId, payableId }, anew, nowMs);
    return { kind: "taken", run, row: { ...row, ...anew } };
  });
}

/**
 * Claims the payable. A run that has ended keeps the claim of what a request may still pay, but
 * looks after nothing any more: its claim goes to the workflow.
 *
 * @returns the other owner, if it keeps the claim
 */
async function otherOwner(
  trx: Transaction<Tables>,
  { businessId, payableId, workflowId }: CaseSubject,
  nowMs: number,
): Promise<string | undefined> {
  const claim = { businessId, payableIds: [payableId], owner: workflowId, nowMs };
  const owner = (await claimPayables(trx, claim)).refused[0]?.owner;
  if (owner === undefined) return undefined;
  const run = await getRun(trx, owner);
  if (run === undefined || !ENDED_PHASES.includes(run.phase)) return owner;
  const move = { businessId, payableId, from: owner, to: workflowId };
  return (await handOverClaim(trx, move)) ? undefined : owner;
}

/**
 * Returns the run of a known case if a person has requested a retry, or if the case has not ended:
 * neither by itself nor by the end of its line. Null otherwise.
 */
function runOfCase(known: Retry | undefined, paid: readonly PaidLine[]): string | null {
  if (known === undefined) return null;
  if (known.requested === "retry") return known.runId;
  const state = paid.find(({ runId }) => runId === known.runId)?.state;
  const isOver = known.phase === "ended" || (state !== undefined && LINE.unowned.includes(state));
  return isOver ? null : known.runId;
}

/**
 * True if the line says settled, and one of its payments isn't any more and has not been dealt
 * with.
 */
function hasChanged(
  { state, paymentIds }: PaidLine,
  payments: readonly PaymentOfCase[],
  known: Retry | undefined,
): boolean {
  const isNews = ({ id, status }: PaymentOfCase): boolean =>
    status !== "completed" &&
    paymentIds.includes(id) &&
    known?.handledPaymentIds.includes(id) !== true;
  return state === "settled" && payments.some(isNews);
}
