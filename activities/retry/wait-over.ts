import type { RetryAssessment } from "../../src/contracts/activities.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { isReinitiable } from "../../src/domain/payments/failure-policy.ts";
import { isTooLate, TOO_LATE } from "../../src/domain/retries/step.ts";
import { getIncident } from "../../src/store/incidents.ts";
import { unpromisedCents } from "../../src/store/reserved.ts";
import { behindForFunds, type RetryCaseRule } from "../../src/store/retry-cases.ts";
import type { ActivityContext } from "../context.ts";
import { stoppedBy } from "./after-failure.ts";
import { assessment, leaveToNextRun, longest, park, parkedFor, waitForDay } from "./answers.ts";
import { firstPaidOn } from "./first-paid.ts";
import type { RetryCase } from "./retry-case.ts";

type Wait =
  | { readonly kind: "over"; readonly because: string }
  | { readonly kind: "not-yet"; readonly answer: RetryAssessment };

/** Whether what a retry waits for has come: a day, the decision about its account, or money. */
export async function waitOver(
  context: ActivityContext,
  retry: RetryCase,
  kept: RetryCaseRule | undefined,
): Promise<Wait> {
  const { row } = retry;
  const stopped = await stoppedBy(context, retry);
  if (stopped !== null) return parked(retry, stopped);
  const today = newYorkDate(retry.clock.businessMs);
  const isReinitiation = isReinitiable(row.reasonCode);
  if (isReinitiation && isTooLate(firstPaidOn(retry), today)) return parked(retry, TOO_LATE);
  if (row.retryOn !== null) {
    return today < row.retryOn
      ? { kind: "not-yet", answer: waitForDay(retry, row.retryOn) }
      : { kind: "over", because: `it is ${row.retryOn}` };
  }
  if (kept?.waitsFor === "incident") return incidentOver(context, retry);
  if (kept?.waitsFor === "funds") return fundsHere(context, retry, kept);
  return { kind: "not-yet", answer: parkedFor(retry) };
}

async function parked(retry: RetryCase, why: string): Promise<Wait> {
  const { row } = retry;
  const reason = `${row.reason ?? "It failed"}. ${why}`;
  return { kind: "not-yet", answer: await park(retry, row.reasonCode ?? "run-cancelled", reason) };
}

async function incidentOver(context: ActivityContext, retry: RetryCase): Promise<Wait> {
  const { businessId, line } = retry;
  const incident = await getIncident(context.store.db, businessId, line.sourceId);
  if (incident === undefined || incident.phase !== "ended") {
    const text = `waits for the funding account ${line.sourceId}: one decision for everything that bounced`;
    return { kind: "not-yet", answer: assessment(retry, "waiting", text, longest(retry, true)) };
  }
  const by = incident.decidedBy ?? "a person";
  if (incident.decision !== "other-source") {
    const code = retry.row.reasonCode;
    if (isReinitiable(code)) return { kind: "over", because: `${line.sourceId} was released` };
    const released = `Our own account was refused (${code}), and ${by} has released it. Nacha's rules let only R01 and R09 be tried again: the next run asks for a new approval.`;
    return {
      kind: "not-yet",
      answer: await leaveToNextRun(retry, code ?? "released", released),
    };
  }
  const reason = `It bounced, and ${by} wants it paid from another account. The next run asks for a new approval.`;
  return { kind: "not-yet", answer: await leaveToNextRun(retry, "other-source", reason) };
}

/** A source that doesn't tell what it holds is asked about: nobody would notice the money. */
async function fundsHere(
  context: ActivityContext,
  retry: RetryCase,
  kept: RetryCaseRule,
): Promise<Wait> {
  const { line } = retry;
  const sources = await context.clientOf(retry.business).fundingSources.list();
  const source = sources.find(({ id }) => id === line.sourceId);
  if (source === undefined || source.availableCents === null) {
    return parked(retry, `${line.sourceId} does not tell what it holds: a person says when.`);
  }
  if (source.canPay && (await isCovered(context, retry, kept, source.availableCents))) {
    return { kind: "over", because: `${line.sourceId} holds the money` };
  }
  const text = `waits for money in the funding account ${line.sourceId}`;
  return { kind: "not-yet", answer: assessment(retry, "waiting", text, longest(retry, false)) };
}

/** True where the source covers this bill beside all that it is promised for, but for what waits behind it. */
async function isCovered(
  context: ActivityContext,
  { businessId, clock }: RetryCase,
  kept: RetryCaseRule,
  availableCents: number,
): Promise<boolean> {
  const { db } = context.store;
  const today = newYorkDate(clock.businessMs);
  // What was taken out of the source while it was read counts as promised still.
  const from = { businessId, sourceId: kept.sourceId, today, readAtMs: clock.realMs };
  const left = await unpromisedCents(db, from, availableCents);
  return left !== null && left + (await behindForFunds(db, kept)) >= 0;
}
