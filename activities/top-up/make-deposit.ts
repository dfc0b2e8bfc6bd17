import type { ClockReading } from "../../src/business/clock.ts";
import type { Attempt } from "../../src/contracts/attempt.ts";
import { isAnswered, isClean, isKeyDead } from "../../src/domain/attempts/sends.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import { liveAttempt } from "../../src/store/attempts.ts";
import { releaseLease, takeLease } from "../../src/store/leases.ts";
import { getRun } from "../../src/store/runs.ts";
import { openTopUpsOf, type TopUp } from "../../src/store/top-ups.ts";
import { type ActivityContext, LEASE_MS } from "../context.ts";
import { readOrWait } from "../read-or-wait.ts";
import { depositFrom } from "./account.ts";
import { demandOf } from "./demand-of.ts";
import { openDeposit, reopenDeposit } from "./deposit-gate.ts";
import { followDeposit } from "./follow-deposit.ts";
import { holdingOf } from "./demand.ts";
import type { DepositJob, DepositOutcome } from "./job.ts";
import { knownBefore, lookUpDeposit } from "./look-up-deposit.ts";
import { recordDeposit, restDeposit } from "./record-deposit.ts";
import { reviewTopUp } from "./review.ts";
import { sendDeposit } from "./send-deposit.ts";

/** Between two looks at a deposit whose effect is not known, on the service's clock. */
const LOOK_AGAIN_MS = 5_000;

/**
 * Takes a workflow's open deposits one step further: sends what is approved, finds out what became
 * of what had no answer, and reads where the money on its way has got to.
 */
export async function makeDeposits(
  context: ActivityContext,
  input: { readonly owner: string; readonly by: string },
): Promise<void> {
  for (const topUp of await openTopUpsOf(context.store.db, input.owner)) {
    const leaseUntilMs = Date.now() + LEASE_MS;
    const lease = { name: leaseName(topUp), holder: input.by };
    if (!(await takeLease(context.store.db, lease, Date.now(), leaseUntilMs))) {
      await restDeposit(context, topUp);
      continue;
    }
    try {
      const job = { topUp, by: input.by, leaseUntilMs };
      await readOrWait(context, topUp, () =>
        oneStep(context, job).catch((error: unknown) => cannotRead(context, topUp, error)),
      );
    } finally {
      await releaseLease(context.store.db, lease);
    }
  }
}

async function oneStep(context: ActivityContext, job: DepositJob): Promise<void> {
  const { topUp } = job;
  if (topUp.state === "on-its-way") return followDeposit(context, topUp);
  const { db } = context.store;
  const live = await liveAttempt(db, topUp.businessId, topUp.subject);
  if (live !== undefined) return recordDeposit(context, job, await goOn(context, job, live));
  const opened = await openFirst(context, job);
  if ("closed" in opened) {
    return opened.closed === null ? undefined : restDeposit(context, topUp, opened.closed);
  }
  const sending = await renewed(context, opened.job);
  const outcome = await sendDeposit(context, sending, opened.attempt, opened.before);
  return recordDeposit(context, opened.job, outcome);
}

/** One request is worked on by one process at a time. */
function leaseName({ businessId, subject }: TopUp): string {
  return `${businessId}/${subject}`;
}

/** The same work with its lease begun anew, once what comes before a send has been read. */
async function renewed(context: ActivityContext, job: DepositJob): Promise<DepositJob> {
  const leaseUntilMs = Date.now() + LEASE_MS;
  const lease = { name: leaseName(job.topUp), holder: job.by };
  const isOurs = await takeLease(context.store.db, lease, Date.now(), leaseUntilMs);
  return isOurs ? { ...job, leaseUntilMs } : { ...job, leaseUntilMs: 0 };
}

/** A token that may pay and not read the balance must not stop the payments of the business. */
async function cannotRead(context: ActivityContext, topUp: TopUp, error: unknown): Promise<void> {
  const codes = ["feature_unavailable", "setup_required"];
  const isRefusal =
    error instanceof PaymentsApiError &&
    (error.status === 403 || codes.includes(error.code)) &&
    error.code !== "token_unavailable";
  if (!isRefusal) throw error;
  return restDeposit(context, topUp, `The balance can't be read: ${error.message}`);
}

type Opened =
  | { readonly job: DepositJob; readonly attempt: Attempt; readonly before: Attempt }
  /** Null where people are asked already. */
  | { readonly closed: string | null };

/** Reads what is missing now, and writes the request where exactly that has been approved. */
async function openFirst(context: ActivityContext, job: DepositJob): Promise<Opened> {
  const { business, businessId, owner, policyRunId, sourceId } = job.topUp;
  const client = context.clientOf(business);
  const policyRun = await getRun(context.store.db, policyRunId);
  const rule = policyRun?.policy.pay.topUp;
  if (policyRun === undefined || rule === undefined) return { closed: "its run is gone" };
  const from = await depositFrom(client, context.profileOf(business), rule);
  const known = await knownBefore(context, job.topUp);
  const readAtMs = Date.now();
  const sources = await client.fundingSources.list();
  const clock = await context.clockOf(business).now();
  const holding = holdingOf(
    sources.find(({ id }) => id === sourceId),
    readAtMs,
  );
  if (holding === undefined) return { closed: "the balance can't be read, or doesn't pay now" };
  return context.store.transactionOf(businessId, async (trx) => {
    const demand = await demandOf(trx, { owner, policyRun, holding, clock });
    if (demand === undefined) return { closed: "its run is gone" };
    const { topUp } = await reviewTopUp(trx, demand, from, clock);
    // Another amount asks for another approval, and may be another transaction in the list.
    const isSame = topUp?.subject === job.topUp.subject && topUp.hash === job.topUp.hash;
    if (!isSame || topUp.state !== "proposed") return { closed: null };
    if (!demand.certain) return { closed: "what the balance holds is just changing" };
    const opened = await openDeposit(trx, { topUp, by: job.by }, known, clock);
    if ("closed" in opened) return opened;
    const before = { ...opened, sends: opened.sends.slice(0, -1) };
    return { job: { ...job, topUp }, attempt: opened, before };
  });
}

/** What follows a request that was sent before: its effect is looked up before anything else. */
async function goOn(
  context: ActivityContext,
  job: DepositJob,
  attempt: Attempt,
): Promise<DepositOutcome> {
  const { topUp } = job;
  const look = await lookUpDeposit(context, topUp, attempt);
  const clock = await context.clockOf(topUp.business).now();
  const { verdict } = look;
  if (verdict.kind === "adopt" && !isClean(attempt)) {
    const { id } = verdict.transaction;
    return { kind: "made", attempt, transactionId: id, answer: "found by look-up" };
  }
  if (verdict.kind === "unclear" && !isClean(attempt)) {
    return unclear(verdict.transactionIds, clock);
  }
  if (isKeyDead(attempt)) {
    if (look.afterWindow || isAnswered(attempt)) return { kind: "next-key", attempt };
    const reason = "The service can't say whether it made the deposit: looking until it must show.";
    return { kind: "rest", notBeforeMs: soon(clock, look.windowEndsMs), reason };
  }
  const opened = await context.store.transactionOf(topUp.businessId, (trx) =>
    reopenDeposit(trx, job, attempt, clock),
  );
  if (!("closed" in opened)) {
    return sendDeposit(context, await renewed(context, job), opened, attempt);
  }
  if (isClean(attempt)) return { kind: "back", attempt, reason: opened.closed };
  // It can't be sent again, and what was sent has shown nothing for as long as it might have.
  if (look.afterWindow) return { kind: "next-key", attempt };
  const reason = `It was sent without an answer, and may not be sent again now (${opened.closed}).`;
  return { kind: "rest", notBeforeMs: soon(clock, look.windowEndsMs), reason };
}

function unclear(ids: readonly string[], clock: ClockReading): DepositOutcome {
  return {
    kind: "rest",
    code: "unclear",
    notBeforeMs: clock.serviceMs + LOOK_AGAIN_MS,
    reason: `It had no answer, and the service shows what may be it or not (${ids.join(", ")}): look at the list of balance transactions, then reject it (of an incident: decide otherwise) or wait.`,
  };
}

function soon({ serviceMs }: ClockReading, windowEndsMs: number): number {
  return Math.max(serviceMs + 1_000, Math.min(serviceMs + LOOK_AGAIN_MS, windowEndsMs));
}
