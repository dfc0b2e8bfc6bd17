import type { RetryAssessment } from "../../src/contracts/activities.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { isTooLate, TOO_LATE } from "../../src/domain/retries/step.ts";
import { getIncident } from "../../src/store/incidents.ts";
import type { RetryCaseRule } from "../../src/store/retry-cases.ts";
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
  if (isTooLate(firstPaidOn(retry), today)) return parked(retry, TOO_LATE);
  if (row.retryOn !== null) {
    return today < row.retryOn
      ? { kind: "not-yet", answer: waitForDay(retry, row.retryOn) }
      : { kind: "over", because: `it is ${row.retryOn}` };
  }
  if (kept?.waitsFor === "incident") return incidentOver(context, retry);
  if (kept?.waitsFor === "funds") return fundsHere(context, retry);
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
  if (incident.decision !== "other-source") {
    return { kind: "over", because: `${line.sourceId} was released` };
  }
  const reason = `It bounced, and ${incident.decidedBy ?? "a person"} wants it paid from another account. The next run asks for a new approval.`;
  return { kind: "not-yet", answer: await leaveToNextRun(retry, "other-source", reason) };
}

/** A source that doesn't tell what it holds is asked about: nobody would notice the money. */
async function fundsHere(context: ActivityContext, retry: RetryCase): Promise<Wait> {
  const { line } = retry;
  const sources = await context.clientOf(retry.business).fundingSources.list();
  const source = sources.find(({ id }) => id === line.sourceId);
  if (source === undefined || source.availableCents === null) {
    return parked(retry, `${line.sourceId} does not tell what it holds: a person says when.`);
  }
  if (source.canPay && source.availableCents >= line.amountCents) {
    return { kind: "over", because: `${line.sourceId} holds the money` };
  }
  const text = `waits for money in the funding account ${line.sourceId}`;
  return { kind: "not-yet", answer: assessment(retry, "waiting", text, longest(retry, false)) };
}
