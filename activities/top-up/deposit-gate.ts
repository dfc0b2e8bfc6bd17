import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import type { Attempt } from "../../src/contracts/attempt.ts";
import { ENDED_PHASES } from "../../src/contracts/pay-run.ts";
import { beginSend, isAnswered } from "../../src/domain/attempts/sends.ts";
import { mayAdvanceSeq } from "../../src/domain/attempts/seq.ts";
import { holdOn } from "../../src/domain/holds.ts";
import { writeAttempt } from "../../src/store/attempt-writes.ts";
import { attemptsOf } from "../../src/store/attempts.ts";
import { isRejected } from "../../src/store/decisions.ts";
import { activeHolds } from "../../src/store/holds.ts";
import { getIncident } from "../../src/store/incidents.ts";
import { getRun } from "../../src/store/runs.ts";
import type { Tables } from "../../src/store/tables.ts";
import { topUpApproved } from "../../src/store/top-up-approvals.ts";
import { changeTopUp, type TopUp } from "../../src/store/top-ups.ts";
import { windowOf } from "../pay/look-up.ts";
import { type AttemptRequest, newAttempt } from "../pay/new-attempt.ts";
import type { DepositJob } from "./job.ts";

const DEPOSIT_PATH = "/v1/balance/deposits";

/**
 * Writes that a deposit is about to be sent for the first time, or under a next key, in one
 * transaction with everything that must hold for it.
 *
 * @param topUp as it was reviewed in this transaction
 * @param knownIds transactions that could be taken for it, and are there already
 * @returns the attempt to send, or why nothing is sent
 */
export async function openDeposit(
  trx: Transaction<Tables>,
  { topUp, by }: Pick<DepositJob, "topUp" | "by">,
  knownIds: readonly string[],
  clock: ClockReading,
): Promise<Attempt | { readonly closed: string | null }> {
  const { businessId, subject } = topUp;
  if (!(await topUpApproved(trx, topUp, Math.floor(clock.businessMs)))) return { closed: null };
  const closed = await depositClosed(trx, topUp, clock);
  if (closed !== null) return { closed };
  const last = (await attemptsOf(trx, businessId, subject)).at(-1);
  const early = last === undefined ? null : nextKeyRefused(last, topUp, clock);
  if (early !== null) return { closed: early };
  // What was never taken has a key that is still the one to use, for what is asked for now.
  const isRevived = last?.state === "released";
  const seq = isRevived ? last.seq : (last?.seq ?? 0) + 1;
  const request = newAttempt(requestOf(topUp, knownIds), seq);
  const frozen = isRevived
    ? {
        ...request,
        attemptId: last.attemptId,
        sends: last.sends,
        firstSentAtMs: last.firstSentAtMs,
      }
    : request;
  const begun = beginSend(frozen, { atMs: clock.serviceMs, by, owner: topUp.owner });
  await writeAttempt(trx, begun, isRevived ? "revive" : "insert", clock.realMs);
  await setSending(trx, topUp, clock);
  return begun;
}

/** Writes that a deposit is about to be sent again: the same bytes under the same key. */
export async function reopenDeposit(
  trx: Transaction<Tables>,
  { topUp, by }: Pick<DepositJob, "topUp" | "by">,
  attempt: Attempt,
  clock: ClockReading,
): Promise<Attempt | { readonly closed: string }> {
  const closed = await depositClosed(trx, topUp, clock);
  if (closed !== null) return { closed };
  const again = beginSend(attempt, { atMs: clock.serviceMs, by, owner: topUp.owner });
  const isLive = await writeAttempt(trx, again, "resend", clock.realMs);
  return isLive ? again : { closed: "it has its final answer" };
}

/** Why nothing may be sent for a request now; null where all that must hold holds. */
async function depositClosed(
  trx: Transaction<Tables>,
  topUp: TopUp,
  clock: ClockReading,
): Promise<string | null> {
  const { owner, businessId, sourceId } = topUp;
  const run = await getRun(trx, topUp.policyRunId);
  if (run === undefined) return "its run is not in the store";
  if (owner === run.runId) {
    if (run.cancelRequestedAtMs !== null) return "the run is cancelled";
    if (await isRejected(trx, owner)) return "the run was rejected";
    if (ENDED_PHASES.includes(run.phase)) return "the run has ended";
  }
  const holds = await activeHolds(trx, businessId, clock.businessMs);
  const incident = await getIncident(trx, businessId, sourceId);
  // The hold of the incident that asks for the money is what the deposit is to lift.
  const own = incident?.workflowId === owner ? incident.holdId : null;
  const facts = { payableId: "", contactId: "", sourceId, runId: owner, playbook: run.playbook };
  const hold = holdOn(
    holds.filter(({ holdId }) => holdId !== own),
    facts,
  );
  if (hold !== undefined) return `on hold: ${hold.reason}`;
  const approved = await topUpApproved(trx, topUp, Math.floor(clock.businessMs));
  return approved ? null : "no valid approval of this deposit is stored";
}

/** Why no new key may follow the last attempt yet. */
function nextKeyRefused(last: Attempt, topUp: TopUp, clock: ClockReading): string | null {
  if (last.state === "released") return null;
  if (last.state !== "dead") return "its last key is not used up";
  const unconfirmed = last.sends.some(({ result }) => result === "unconfirmed");
  const verdict = mayAdvanceSeq({
    lastKey: unconfirmed ? "unconfirmed" : "replayed-rejection",
    owedCents: topUp.amountCents,
    amountCents: topUp.amountCents,
    approved: true,
    unknown: isAnswered(last) ? null : windowOf(last, clock),
    lookUp: last.lookedUpAtMs === null ? null : { atMs: last.lookedUpAtMs, verdict: "none" },
  });
  return verdict.may ? null : "its last key may still take effect";
}

async function setSending(
  trx: Transaction<Tables>,
  topUp: TopUp,
  clock: ClockReading,
): Promise<void> {
  const change = { state: "sending", reason: null, sinceMs: clock.businessMs } as const;
  const isMine = await changeTopUp(trx, topUp, ["proposed"], change, clock.realMs);
  if (!isMine) throw new Error(`${topUp.subject} is not proposed any more`);
}

function requestOf(topUp: TopUp, knownIds: readonly string[]): AttemptRequest {
  const { account, amountCents, businessId, owner, sourceId, subject } = topUp;
  return {
    businessId,
    subject,
    operation: "deposit",
    path: DEPOSIT_PATH,
    body: JSON.stringify({ amountCents, bankAccountId: account.bankAccountId }),
    owner,
    lineHash: topUp.hash,
    contactId: "",
    sourceId,
    rail: "",
    amountCents,
    executionDate: topUp.makeBy,
    knownPaymentIds: knownIds,
  };
}
