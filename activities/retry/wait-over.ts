import type { RetryAssessment } from "../../src/contracts/activities.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { whyNoPayment } from "../../src/domain/funding-source.ts";
import { isReinitiable, REINITIATIONS_MAX } from "../../src/domain/payments/return-codes.ts";
import { arrivalDate, earliestDate } from "../../src/domain/planning/send-date.ts";
import { moneyPollInMs, soonestSleepMs } from "../../src/domain/sleeps.ts";
import { nextTryDate } from "../../src/domain/retries/step.ts";
import { getIncident } from "../../src/store/incidents/incidents.ts";
import { unpromisedCents } from "../../src/store/lines/reserved.ts";
import {
  behindForFunds,
  keepRetryCase,
  type RetryCaseRule,
} from "../../src/store/lines/retry-cases.ts";
import { incidentOfBounce } from "../shared/incident-of-bounce.ts";
import { readPayer } from "../shared/own-sources.ts";
import { stoppedBy } from "./after-failure.ts";
import { announceDay } from "./announce-day.ts";
import {
  assessment,
  decisionAbout,
  joined,
  leaveToNextRun,
  park,
  retryParked,
  waitFor,
  waitForDay,
} from "./answers.ts";
import { approvalEndOf } from "./approval.ts";
import { changesInMs, type RetryCase, saysMore, setRow } from "./retry-case.ts";

type Wait =
  | { readonly kind: "over"; readonly because: string }
  | { readonly kind: "not-yet"; readonly answer: RetryAssessment };

/**
 * Judges whether what a retry waits for has come: a day, the decision about its account, or money.
 */
export async function waitOver(retry: RetryCase, kept: RetryCaseRule | undefined): Promise<Wait> {
  const { row } = retry;
  const stopped = await stoppedBy(retry);
  if (stopped !== null) return parked(retry, stopped);
  const joined = kept === undefined ? null : await joinIncident(retry, kept);
  if (joined !== null) return { kind: "not-yet", answer: joined };
  const earliest = earliestDate(retry.clock);
  const day = dayOf(retry, kept);
  // A failure whose code is never tried again still waits for its decision.
  const end = isReinitiable(row.reasonCode) ? await approvalEndOf(retry, day ?? earliest) : null;
  if (end !== null) {
    await setRow(retry, { approvalEnded: end.reason });
    return parked(retry, end.reason);
  }
  if (day !== null) {
    if (day !== row.retryOn) await announceAnew(retry, day, kept);
    if (day === earliest) return { kind: "over", because: runsOn(day) };
    return { kind: "not-yet", answer: await waitForDay(retry, day) };
  }
  if (kept?.waitsFor === "incident") return incidentOver(retry);
  if (kept?.waitsFor === "funds") return fundsHere(retry, kept);
  return { kind: "not-yet", answer: await retryParked(retry) };
}

/**
 * Returns the day that was announced; if it can't be reached any more, the next day of its rule.
 */
function dayOf({ row, clock }: RetryCase, kept: RetryCaseRule | undefined): string | null {
  if (row.retryOn === null || row.retryOn >= earliestDate(clock)) return row.retryOn;
  const today = arrivalDate(clock);
  return kept === undefined ? earliestDate(clock) : nextTryDate(kept.rule, today);
}

/**
 * Announces the day that follows one which passed without a request, before anything is sent for
 * it.
 */
async function announceAnew(
  retry: RetryCase,
  day: string,
  kept: RetryCaseRule | undefined,
): Promise<void> {
  const { row, line } = retry;
  if (saysMore(line)) return setRow(retry, { retryOn: day });
  const reason = row.reason ?? "It failed";
  const ofAtMost = kept?.rule.atMost ?? REINITIATIONS_MAX;
  await announceDay(retry, day, { reasonCode: row.reasonCode, reason, ofAtMost });
}

function runsOn(day: string): string {
  return `it runs on ${day}`;
}

async function parked(retry: RetryCase, why: string): Promise<Wait> {
  const { row } = retry;
  const reason = `${row.reason ?? "It failed"}. ${why}`;
  return { kind: "not-yet", answer: await park(retry, row.reasonCode ?? "run_cancelled", reason) };
}

/**
 * Joins the incident of its account, if the account was paused for other payments that bounced
 * after a day was announced for this one: it then waits for the same decision.
 */
async function joinIncident(
  retry: RetryCase,
  kept: RetryCaseRule,
): Promise<RetryAssessment | null> {
  const { context, businessId, line, row } = retry;
  const { db } = context.store;
  const { reasonCode } = row;
  if (row.retryOn === null || !isReinitiable(reasonCode)) return null;
  const incident = await getIncident(db, businessId, line.sourceId);
  if (incident === undefined || incident.phase === "ended") return null;
  const reason = row.reason ?? "It failed";
  await keepRetryCase(db, { ...kept, waitsFor: "incident" });
  const answer = await waitFor(retry, decisionAbout(line.sourceId), reason, { reasonCode });
  const { roles } = incident;
  const callsBack = kept.rule.onIncident !== undefined;
  const account = { code: reasonCode ?? "unknown_reason", reason, roles, callsBack };
  return joined(answer, await incidentOfBounce(context, retry, account));
}

async function incidentOver(retry: RetryCase): Promise<Wait> {
  const { context, businessId, line } = retry;
  const incident = await getIncident(context.store.db, businessId, line.sourceId);
  if (incident === undefined || incident.phase !== "ended") {
    const text = `waits for ${decisionAbout(line.sourceId)}`;
    return {
      kind: "not-yet",
      answer: assessment(retry, "waiting", text, await changesInMs(retry)),
    };
  }
  const by = incident.decidedBy ?? "a person";
  if (incident.decision !== "other-source") {
    const code = retry.row.reasonCode;
    if (isReinitiable(code))
      return {
        kind: "over",
        because: `${line.sourceId} was released, ${runsOn(earliestDate(retry.clock))}`,
      };
    const released = `Our own account was refused (${code}), and ${by} has released it. Nacha's rules let only R01 and R09 be tried again: the next run asks for a new approval.`;
    return {
      kind: "not-yet",
      answer: await leaveToNextRun(retry, code ?? "unknown_reason", released),
    };
  }
  const reason = `It bounced, and ${by} wants it paid from another account. The next run asks for a new approval.`;
  return { kind: "not-yet", answer: await leaveToNextRun(retry, "other_source", reason) };
}

/**
 * Judges whether the money is there. If a source doesn't show what it holds, a person is asked,
 * because nothing would notice the money.
 */
async function fundsHere(retry: RetryCase, kept: RetryCaseRule): Promise<Wait> {
  const { line } = retry;
  const { sources } = await readPayer(retry.context.clientOf(retry.business));
  const source = sources.find(({ id }) => id === line.sourceId);
  const noPayment = whyNoPayment(line.sourceId, source);
  if (noPayment !== null) {
    if (source === undefined) return parked(retry, noPayment);
    return moneyAwaited(retry, kept, `waits for money: ${noPayment}`);
  }
  if (source === undefined || source.availableCents === null) {
    return parked(
      retry,
      `The service doesn't say what ${line.sourceId} holds: a person says when.`,
    );
  }
  if (await isCovered(retry, kept, source.availableCents)) {
    return {
      kind: "over",
      because: `${line.sourceId} holds the money, ${runsOn(earliestDate(retry.clock))}`,
    };
  }
  return moneyAwaited(retry, kept, `waits for money in the funding account ${line.sourceId}`);
}

async function moneyAwaited(retry: RetryCase, kept: RetryCaseRule, text: string): Promise<Wait> {
  const waitedMs = retry.clock.realMs - kept.failedRealMs;
  const waitMs = soonestSleepMs(moneyPollInMs(waitedMs, retry.clock), await changesInMs(retry));
  return { kind: "not-yet", answer: assessment(retry, "waiting", text, waitMs) };
}

/**
 * True if the source covers this bill beside everything that is promised from it, except what waits
 * behind it.
 */
async function isCovered(
  { context, businessId, clock }: RetryCase,
  kept: RetryCaseRule,
  availableCents: number,
): Promise<boolean> {
  const { db } = context.store;
  const today = newYorkDate(clock.businessMs);
  // Money that was taken out of the source while it was read still counts as promised.
  const from = { businessId, sourceId: kept.sourceId, today, readAtMs: clock.realMs };
  const left = await unpromisedCents(db, from, availableCents);
  return left !== null && left + (await behindForFunds(db, kept)) >= 0;
}
