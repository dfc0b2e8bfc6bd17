import type { BusinessProfile } from "../../config/business-profile.ts";
import { cancelSubject, holdSubject } from "../../contracts/names.ts";
import { fundingIncidentId } from "../../contracts/workflow-kinds.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import { recallOfBill } from "../../domain/cancellations/cut-off.ts";
import { overLimitText } from "../../domain/planning/ways-out.ts";
import { decidersUnder, resolversUnder } from "../../domain/retries/deciders.ts";
import { shownState } from "../../domain/plan-only.ts";
import { isTrouble } from "../../domain/step-trouble.ts";
import { getRun } from "../../store/runs/runs.ts";
import { attemptsOf } from "../../ledger/attempts.ts";
import { lossNoticed, mayPredateLoss } from "../../store/janitor/behind.ts";
import { listAudit, type AuditEntry } from "../../store/audit/audit.ts";
import { listAuditOfPayable } from "../../store/audit/audit-lines.ts";
import { cancellationsOfPayable } from "../../store/cancellations/cancellation-items.ts";
import type { LineInParts } from "../../domain/payments/line-parts.ts";
import { linesWithParts } from "../../store/payables/line-parts.ts";
import { rulesOfFailures } from "../../store/lines/retry-cases.ts";
import { givenBackIn } from "../../store/lines/parked-lines.ts";
import { claimOwners } from "../../store/payables/claims.ts";
import type { Db } from "../../store/index.ts";
import { planLineOf } from "../../store/lines/lines.ts";
import { currentOf, leftOutOf, linesOfPayable } from "../../store/lines/payable-history.ts";
import { seenPayments } from "../../store/payables/seen-payments.ts";
import { getRetry } from "../../store/retries/retries.ts";
import { holdsJson } from "../status/holds.ts";
import type { ActionContext } from "../../actions/context.ts";
import { approvalsOfBill, approvalsOfDeposit } from "./approvals.ts";
import { confirmedOf, refusedOf } from "./deciders.ts";
import { servicePayments } from "./service-payments.ts";
import { attemptJson } from "./attempts.ts";
import { holdsOf } from "./holds.ts";
import { externalIn, paymentsIn } from "./payments.ts";
import { reasonNow } from "../status/left-items.ts";
import { timelineOf } from "./timeline.ts";
import { changedIn, paidOnceOf, zoneOfProfile } from "./verdict.ts";
import { topUpsOf } from "../../store/deposits/deposits.ts";
import { ClockReading } from "../../business/clock.ts";

/**
 * Returns everything that is known about one bill: who approved it and on which plan, the requests
 * that were sent and their responses, lookups, payments, holds, cancellations, and whether it was
 * paid once.
 */
export async function historyOf(
  context: Pick<ActionContext, "store" | "clientOf" | "clocks" | "nowMs">,
  profile: BusinessProfile,
  payableId: string,
) {
  const { db } = context.store;
  const { businessId } = profile;
  // Read before the store: a payment that a request makes meanwhile must not look external.
  const shown = await servicePayments(context, profile, payableId);
  const attempts = await attemptsOf(db, businessId, payableId, profile);
  /** The bill's lines in the plans of runs. */
  const places = await linesOfPayable(db, businessId, payableId);
  const line = currentOf(places);
  const plan = line === undefined ? undefined : await planLineOf(db, line);
  const trail = await listAuditOfPayable(db, { businessId, payableId }, places);
  const decided = await decidedAbout(db, { businessId, payableId }, places, trail);
  const cancellations = await cancellationsOfPayable(db, businessId, payableId);
  const paymentIds = new Set([
    ...attempts.flatMap((attempt) => attempt.paymentIds),
    ...cancellations.flatMap(({ paymentId }) => paymentId ?? []),
  ]);
  const ofPayments = await listAudit(db, { businessId, subject: [...paymentIds] });
  const account = { businessId, sourceId: line?.sourceId ?? "" };
  const retry = await getRetry(db, businessId, payableId);
  const incidents = retry === undefined ? [] : await incidentEntries(db, account, spanOf(retry));
  const story = inOrder(...trail, ...ofPayments, ...incidents);
  const seen = await seenPayments(db, businessId, [...paymentIds]);
  const payments = paymentsIn(story, attempts, { seen, shown });
  const externalPayments = await externalOf(db, businessId, { shown, payments });
  const leftOut = await lastLeftOut(db, line, { businessId, payableId });
  const contactId = contactIdOf(plan, leftOut);
  const holds = await holdsOf(db, { businessId, payableId, contactId, line });
  const ofHolds = await listAudit(db, { businessId, subject: holdSubject("payable", payableId) });
  const about = inOrder(...trail, ...ofPayments, ...ofHolds);
  const cancels = await cancelAttempts(db, businessId, paymentIds);
  const givenBack =
    line !== undefined && (await givenBackIn(db, { runId: line.runId, payableId })).size > 0;
  const verdict = paidOnceOf({
    profile,
    line,
    plan,
    places,
    attempts,
    shown,
    payments,
    externalPayments,
    givenBack,
    holds,
    leftOut,
    trail: about,
  });
  const [inParts] = await linesWithParts(db, businessId, line === undefined ? [] : [line]);
  const owner = (await claimOwners(db, businessId, [payableId])).get(payableId) ?? null;
  return {
    payableId,
    business: profile.name,
    owner,
    ...standingOf(line, givenBack),
    ...(await troubleOf(db, owner, retry)),
    ...(await decidersOf(db, line, givenBack)),
    bill: billJson(plan, inParts, retry?.phase === "waiting" ? retry.retryOn : null),
    leftOut: leftOutJson(leftOut),
    zone: zoneOfProfile(profile),
    paidOnce: verdict,
    ...decided,
    timeline: await timelineOf(db, { businessId, payableId, trail: story, holds, ...decided }),
    attempts: attempts.map((attempt) => attemptJson(attempt, trail)),
    payments: payments.map(({ hadSettled: _, ...payment }) => payment),
    recall: await recallNow(context, profile, line, payments),
    externalPayments,
    retry: retryJson(retry),
    holds: await holdsJson(db, holds, profile),
    cancellations: await cancellationsJson(context, profile, cancellations, seen),
    cancels,
    deposits: await depositsFor(db, account, [
      ...[...new Set(places.map(({ runId }) => runId))].map((owner) => ({ owner, sinceMs: 0 })),
      ...incidentOf(profile, account.sourceId, retry),
    ]),
    trail: { entries: about.length, changed: changedIn(about) },
  };
}

/**
 * Returns who has approved the bill, who has said since it was planned that its vendor's account is
 * still right, and whose decisions on its runs don't count.
 */
async function decidedAbout(
  db: Db,
  { businessId, payableId }: { readonly businessId: string; readonly payableId: string },
  places: Awaited<ReturnType<typeof linesOfPayable>>,
  trail: readonly AuditEntry[],
) {
  const line = currentOf(places);
  const run = line === undefined ? undefined : await getRun(db, line.runId);
  const sinceMs = trail[0]?.atMs ?? 0;
  return {
    approvals: await approvalsOfBill(db, businessId, payableId),
    confirmed:
      line === undefined || run === undefined
        ? []
        : await confirmedOf(db, run, [line.contactId], sinceMs),
    refused: await refusedOf(db, businessId, [...new Set(places.map(({ runId }) => runId))]),
  };
}

/**
 * Returns the roles that may act on the bill while it is parked, and those of them that may retry
 * it.
 */
async function decidersOf(db: Db, line: Line, givenBack: boolean) {
  if (line?.state !== "parked") return { roles: [], retryRoles: [] };
  const { businessId, payableId } = line;
  const rules = await rulesOfFailures(db, businessId, [payableId]);
  const rule = rules.get(payableId);
  const isRetried = !givenBack && overLimitText(line.reasonCode, payableId) === undefined;
  return { roles: resolversUnder(rule), retryRoles: isRetried ? decidersUnder(rule) : [] };
}

/** Returns whether the bill's payment can still be cancelled, as a stop would say it. */
async function recallNow(
  context: Pick<ActionContext, "clocks" | "nowMs">,
  profile: BusinessProfile,
  line: Line,
  payments: readonly { readonly status: string }[],
) {
  if (line === undefined) return null;
  const isPaidAgain =
    line.state === "retrying" && payments.some(({ status }) => status === "scheduled");
  const of = {
    state: isPaidAgain ? "scheduled" : line.state,
    scheduledAt: line.executionDate,
    isSplit: line.paymentIds.length > Math.max(1, line.attempts),
  };
  return recallOfBill(of, await clockOf(context, profile)) ?? null;
}

/** Returns the business's clocks; the real clock if they can't be read. */
async function clockOf(
  { clocks, nowMs }: Pick<ActionContext, "clocks" | "nowMs">,
  profile: BusinessProfile,
): Promise<ClockReading> {
  return clocks.read(profile).catch(() => new ClockReading({ businessMs: nowMs() }));
}

function inOrder(...entries: readonly AuditEntry[]): AuditEntry[] {
  return entries.toSorted((one, other) => one.auditId - other.auditId);
}

/** Returns the payments at the service that Payrun's requests are not known to have made. */
async function externalOf(
  db: Db,
  businessId: string,
  { shown, payments }: Pick<Parameters<typeof paidOnceOf>[0], "shown" | "payments">,
) {
  const loss = await lossNoticed(db, businessId);
  return externalIn(shown?.payments, payments, (payment) => mayPredateLoss(loss, payment));
}

/** Returns the bill as planned, with the day on which it is paid now: a retry moves that. */
function billJson(
  plan: PlanLine | undefined,
  line: (LineInParts & { readonly executionDate: string }) | undefined,
  retryOn: string | null,
) {
  if (plan === undefined) return null;
  const { contactId, contactName, publicId, amountCents, dueDate } = plan;
  const executionDate = retryOn ?? line?.executionDate ?? plan.executionDate;
  const parts = line?.parts;
  return { contactId, contactName, publicId, amountCents, parts, dueDate, executionDate };
}

/** Returns why a run left the bill out, from the latest run that did, if none has planned it. */
async function lastLeftOut(
  db: Db,
  line: Line,
  { businessId, payableId }: { readonly businessId: string; readonly payableId: string },
) {
  if (line !== undefined) return undefined;
  const [last] = await leftOutOf(db, businessId, payableId);
  if (last === undefined) return undefined;
  return { runId: last.runId, ...last.skipped };
}

function contactIdOf(plan: PlanLine | undefined, last: LastLeftOut): string | null {
  return plan?.contactId ?? last?.contactId ?? null;
}

type LastLeftOut = Awaited<ReturnType<typeof lastLeftOut>>;

function leftOutJson(last: LastLeftOut) {
  if (last === undefined) return null;
  const { runId, publicId, contactName, amountCents, dueDate, code, text } = last;
  return { runId, publicId, contactName, amountCents, dueDate, code, text };
}

async function cancellationsJson(
  context: Pick<ActionContext, "clocks" | "nowMs">,
  profile: BusinessProfile,
  items: Awaited<ReturnType<typeof cancellationsOfPayable>>,
  seen: Awaited<ReturnType<typeof seenPayments>>,
) {
  if (items.length === 0) return [];
  const { businessMs } = await clockOf(context, profile);
  return items.map(({ workflowId: id, paymentId, state, ...item }) => {
    const { status } = seen.get(paymentId ?? "") ?? {};
    const reason = reasonNow({ ...item, paymentId, state, status }, businessMs);
    return { id, paymentId, state, reason };
  });
}

type Retry = Awaited<ReturnType<typeof getRetry>>;

type Line = Parameters<typeof paidOnceOf>[0]["line"];

function retryJson(retry: Retry) {
  if (retry === undefined) return null;
  const { workflowId, phase, retriesMade, reasonCode } = retry;
  // What the retry waited for before it paid again is over.
  const isOver = phase === "following" && !isTrouble(retry.reason);
  const reason = isOver ? null : retry.reason;
  return { id: workflowId, phase, retriesMade, reasonCode, reason };
}

function spanOf({ phase, startedAtMs, updatedAtMs }: NonNullable<Retry>) {
  return { startedAtMs, endedAtMs: phase === "ended" ? updatedAtMs : null };
}

/** Returns the incident of the bill's account, which asks for deposits as well. */
function incidentOf({ name }: BusinessProfile, sourceId: string, retry: Retry): DepositOwner[] {
  if (retry === undefined) return [];
  return [{ owner: fundingIncidentId(name, sourceId), sinceMs: retry.startedAtMs }];
}

async function cancelAttempts(db: Db, businessId: string, paymentIds: ReadonlySet<string>) {
  const found = [];
  for (const paymentId of paymentIds) {
    const attempts = await attemptsOf(db, businessId, cancelSubject(paymentId));
    found.push(...attempts.map((attempt) => ({ paymentId, ...attemptJson(attempt, []) })));
  }
  return found;
}

/** Returns why the bill doesn't go on, if a step of its run, or of its retry, fails. */
async function troubleOf(db: Db, owner: string | null, retry: Retry) {
  const run = owner === null ? undefined : await getRun(db, owner);
  const reason = run === undefined ? (retry?.reason ?? null) : run.waitingFor;
  return isTrouble(reason) ? { reason } : {};
}

function standingOf(line: Line, givenBack: boolean) {
  return {
    state: line === undefined ? null : shownState(line.state),
    givenBack,
    reasonCode: line?.reasonCode ?? null,
    reason: line?.reason ?? null,
  };
}

/**
 * Returns the trail's entries on the bill's funding account while its retry was at work: a decision
 * about the account decides every bill that waits for it.
 */
async function incidentEntries(
  db: Db,
  account: { readonly businessId: string; readonly sourceId: string },
  retry: { readonly startedAtMs: number; readonly endedAtMs: number | null },
): Promise<AuditEntry[]> {
  const { businessId, sourceId } = account;
  const entries = await listAudit(db, { businessId, subject: sourceId });
  return entries.filter(
    ({ action, atMs }) =>
      action.startsWith("incident.") &&
      atMs >= retry.startedAtMs &&
      atMs <= (retry.endedAtMs ?? Number.POSITIVE_INFINITY),
  );
}

/** A workflow that may have asked for a deposit, and the instant from which its requests matter. */
interface DepositOwner {
  readonly owner: string;
  /** Real time; requests that ended before it are about something else. */
  readonly sinceMs: number;
}

/** Returns the deposits into a funding source that were requested so that a bill could be paid. */
async function depositsFor(
  db: Db,
  { businessId, sourceId }: { readonly businessId: string; readonly sourceId: string },
  owners: readonly DepositOwner[],
) {
  const found = [];
  for (const { owner, sinceMs } of owners) {
    for (const topUp of await topUpsOf(db, owner)) {
      const isOther = topUp.businessId !== businessId || topUp.sourceId !== sourceId;
      if (isOther || topUp.updatedAtMs < sinceMs) continue;
      const { subject, amountCents, state, reason, transactionId } = topUp;
      const trail = await listAudit(db, { businessId, subject });
      const attempts = await attemptsOf(db, businessId, subject);
      found.push({
        subject,
        amountCents,
        state,
        reason,
        transactionId,
        approvals: await approvalsOfDeposit(db, topUp),
        attempts: attempts.map((attempt) => attemptJson(attempt, trail)),
      });
    }
  }
  return found;
}
