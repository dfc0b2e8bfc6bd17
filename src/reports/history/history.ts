import type { BusinessProfile } from "../../config/business-profile.ts";
import { cancelSubject, fundingIncidentId } from "../../contracts/names.ts";
import { paidOnce } from "../../domain/payments/paid-once.ts";
import { attemptsOf } from "../../ledger/attempts.ts";
import { auditHash, type AuditEntry, listAudit } from "../../store/audit/audit.ts";
import { listAuditOfPayable } from "../../store/audit/audit-lines.ts";
import { cancellationsOfPayable } from "../../store/cancellations/cancellation-items.ts";
import { claimOwners } from "../../store/payables/claims.ts";
import type { Db } from "../../store/index.ts";
import { listHolds, type Hold } from "../../store/holds/holds.ts";
import { planLineOf } from "../../store/lines/lines.ts";
import { getRetry } from "../../store/retries/retries.ts";
import { holdJson } from "../status/holds.ts";
import { currentLineOf } from "../../actions/payables.ts";
import { approvalsOf } from "./approvals.ts";
import { refusedOf } from "./deciders.ts";
import { attemptJson, lookUpsIn, paymentsIn } from "./attempts.ts";
import { type DepositOwner, depositsFor } from "./deposits.ts";
import { incidentEntries } from "./incidents.ts";
import { timelineOf } from "./timeline.ts";

/**
 * Everything the store knows about one bill: who approved it and on which plan, the requests that
 * were sent and what was answered, lookups, payments, holds, cancellations, and whether it was paid
 * once.
 */
export async function historyOf(db: Db, profile: BusinessProfile, payableId: string) {
  const { businessId } = profile;
  const attempts = await attemptsOf(db, businessId, payableId, profile);
  const holds = await holdsOf(db, businessId, payableId);
  const line = await currentLineOf(db, businessId, payableId);
  const plan = line === undefined ? undefined : await planLineOf(db, line);
  const places = await placesOf(db, businessId, payableId);
  const trail = await listAuditOfPayable(db, { businessId, payableId }, places);
  const approvals = await approvalsOf(db, businessId, payableId);
  const cancellations = await cancellationsOfPayable(db, businessId, payableId);
  const paymentIds = new Set([
    ...attempts.flatMap((attempt) => attempt.paymentIds),
    ...cancellations.flatMap(({ paymentId }) => paymentId ?? []),
  ]);
  const ofPayments = await listAudit(db, { businessId, subject: [...paymentIds] });
  const account = { businessId, sourceId: line?.sourceId ?? "" };
  const retry = await getRetry(db, businessId, payableId);
  const incidents = retry === undefined ? [] : await incidentEntries(db, account, spanOf(retry));
  const story = [...trail, ...ofPayments, ...incidents].sort(
    (one, other) => one.auditId - other.auditId,
  );
  const payments = paymentsIn(story, attempts);
  const cancels = await cancelAttempts(db, businessId, paymentIds);
  const { verdict, sentences } = paidOnce({
    state: line?.state ?? null,
    amountCents: plan?.amountCents ?? null,
    attempts: attempts.map((attempt) => ({ ...attempt, lookUps: lookUpsIn(trail, attempt) })),
    payments,
  });
  return {
    payableId,
    business: profile.name,
    owner: (await claimOwners(db, businessId, [payableId])).get(payableId) ?? null,
    state: line?.state ?? null,
    reason: line?.reason ?? null,
    bill:
      plan === undefined
        ? null
        : {
            contactId: plan.contactId,
            contactName: plan.contactName,
            amountCents: plan.amountCents,
            dueDate: plan.dueDate,
            executionDate: plan.executionDate,
          },
    paidOnce: { verdict, sentences: [...sentences, trailSentence(trail)] },
    approvals,
    refused: await refusedOf(db, businessId, [...new Set(places.map(({ runId }) => runId))]),
    timeline: await timelineOf(db, { businessId, payableId, trail: story, holds, approvals }),
    attempts: attempts.map((attempt) => attemptJson(attempt, trail)),
    payments,
    retry: retryJson(retry),
    holds: holds.map((hold) => holdJson(hold, profile.name)),
    cancellations: cancellations.map(({ workflowId, paymentId, state, reason }) => ({
      id: workflowId,
      paymentId,
      state,
      reason,
    })),
    cancels,
    deposits: await depositsFor(db, account, [
      ...[...new Set(places.map(({ runId }) => runId))].map((owner) => ({ owner, sinceMs: 0 })),
      ...incidentOf(profile, account.sourceId, retry),
    ]),
    trail: { entries: trail.length, changed: changedIn(trail) },
  };
}

/** Where it stands in the plans of runs. */
async function placesOf(
  db: Db,
  businessId: string,
  payableId: string,
): Promise<{ readonly runId: string; readonly lineNo: number }[]> {
  const rows = await db
    .selectFrom("run_lines")
    .select(["run_id", "line_no"])
    .where("business_id", "=", businessId)
    .where("payable_id", "=", payableId)
    .execute();
  return rows.map((row) => ({ runId: row.run_id, lineNo: row.line_no }));
}

type Retry = Awaited<ReturnType<typeof getRetry>>;

function retryJson(retry: Retry) {
  if (retry === undefined) return null;
  const { workflowId, phase, retriesMade, reasonCode, reason } = retry;
  return { id: workflowId, phase, retriesMade, reasonCode, reason };
}

function spanOf({ phase, startedAtMs, updatedAtMs }: NonNullable<Retry>) {
  return { startedAtMs, endedAtMs: phase === "ended" ? updatedAtMs : null };
}

/** The incident of its account, which asks for deposits as well. */
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

async function holdsOf(db: Db, businessId: string, payableId: string): Promise<Hold[]> {
  const holds = await listHolds(db, { businessId, nowMs: 0 });
  return holds.filter((hold) => hold.scope === "payable" && hold.value === payableId);
}

/** Ids of entries that are not what was written. */
function changedIn(trail: readonly AuditEntry[]): number[] {
  return trail.filter((entry) => !isAsWritten(entry)).map(({ auditId }) => auditId);
}

function isAsWritten({ detailsText, prevHash, hash, atMs, ...entry }: AuditEntry): boolean {
  return auditHash({ ...entry, nowMs: atMs }, detailsText, prevHash) === hash;
}

function trailSentence(trail: readonly AuditEntry[]): string {
  const changed = changedIn(trail);
  if (changed.length > 0) {
    return `Entry ${changed.join(", ")} of the audit trail is not what was written: run payrun audit verify.`;
  }
  const count = trail.length === 1 ? "entry" : `${trail.length} entries`;
  return trail.length === 0
    ? "The audit trail has no entry of its own about it."
    : `The audit trail's ${count} about it ${trail.length === 1 ? "is" : "are"} as written; payrun audit verify checks that none is missing.`;
}
