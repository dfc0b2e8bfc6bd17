import type { Transaction } from "kysely";
import type { ApprovalRule } from "../contracts/playbook.ts";
import { LINE, type LineState } from "../contracts/line-states.ts";
import type { VendorRecord } from "../contracts/pay-run.ts";
import { recordQuestion, rolesOfLine } from "../domain/approvals/changed-records.ts";
import type { LimitsInForce } from "../domain/planning/limits.ts";
import { differing, isChanged, recordKey } from "../domain/vendor-account.ts";
import { type ConfirmedRecords, confirmedRecords } from "./confirmed-records.ts";
import { whyNoDebit } from "../domain/payments/debit-authorization.ts";
import { holdOn } from "../domain/holds.ts";
import { revokedAuthorizations } from "../store/incidents/incidents.ts";
import { holdsOnLines } from "../store/holds/holds.ts";
import type { Tables } from "../store/schema/tables.ts";
import { CommittedSums } from "../store/lines/committed-sums.ts";
import { type Closed, closedFor, type GateReads, type GateRequest } from "./gate.ts";
import type { Wish } from "./facts.ts";
import { refusedBySums } from "./gate-sums.ts";
import type { LineAtGate } from "./lines-at-gate.ts";
import { forbiddenByTrail, type LineToLetGo } from "./gate-trail.ts";
import { refusedSince, runStopped } from "./run-stopped.ts";

/** The workflow that wants lines of one run paid. */
export interface PayCaller {
  /** Workflow id that owns the claims: the run, or a retry. */
  readonly owner: string;
  readonly businessId: string;
  readonly runId: string;
  readonly playbook: string;
  readonly limits: LimitsInForce;
  /** The rules of the run's playbook. */
  readonly approve: readonly ApprovalRule[];
  /** When a person has accepted the ACH debit authorization: a date or an instant. */
  readonly debitAcceptedAt: string | undefined;
}

/** States in which a claim's owner may pay the line. */
const OF_RUN: readonly LineState[] = ["paying"];
/**
 * Checks everything that must hold before lines are paid (rule 3), as this transaction reads it:
 * the line and its version, the run, the claim, holds, a quorum's approval of exactly this line,
 * the vendor's record, the debit authorization, and the limits and rules over all committed
 * payments.
 */
export async function mayPay(
  trx: Transaction<Tables>,
  caller: PayCaller,
  requests: readonly (GateRequest & { readonly wish: Wish })[],
  { businessMs, lines: read }: GateReads,
): Promise<Map<string, Closed>> {
  const { owner, businessId, runId } = caller;
  const closed = new Map<string, Closed>();
  const ids = requests.map(({ subject }) => subject);
  const run = await read.run(runId);
  const isRetry = owner !== runId;
  const stopped = await runStopped(trx, run, !isRetry);
  // While a run has a bill's claim, no other run plans it.
  const refused = isRetry ? await refusedSince(trx, businessId, ids) : new Map<string, Closed>();
  const lines = await read.of(runId, ids);
  const holds = await holdsOnLines(trx, { businessId, payableIds: ids, businessMs });
  const sums = new CommittedSums(trx, { ...caller, businessMs });
  const open: LineToLetGo[] = [];
  const states = isRetry ? LINE.failed : OF_RUN;
  const revoked = await revokedAuthorizations(trx, businessId, debitedBy(lines));
  const confirmed = await confirmedRecords(trx, run, changedVendors(requests, lines));
  for (const { subject, wish, record } of requests) {
    const line = lines.get(subject);
    const isMoved =
      line === undefined ||
      !states.includes(line.state) ||
      line.lineHash !== wish.approvedHash ||
      line.amountCents !== wish.amountCents;
    if (isMoved) {
      closed.set(subject, { code: "moved", reason: "another process has changed the line" });
      continue;
    }
    const { plan } = line;
    const facts = { ...line, playbook: caller.playbook };
    const refusal =
      stopped ??
      leftOut(line) ??
      (line.claimedBy === owner
        ? null
        : closedFor("not_claimed", "the payable belongs to another workflow")) ??
      refused.get(subject) ??
      onHold(holdOn(holds, facts)) ??
      (line.approved
        ? null
        : closedFor("not_approved", "no valid approval of this line is stored")) ??
      recordRefusal(line, record, confirmed, runId) ??
      (plan.funding.needsAchAuthorization
        ? unauthorized(caller.debitAcceptedAt, revoked.get(plan.funding.sourceId))
        : null) ??
      (await refusedBySums(
        sums,
        caller.limits,
        { ...line, executionDate: wish.executionDate },
        plan,
      ));
    if (refusal === null) {
      const quorums = plan.stages?.map(({ quorum }) => quorum) ?? [plan.quorum];
      open.push({ ...facts, quorums });
    } else closed.set(subject, refusal);
  }
  for (const [subject, reason] of await forbiddenByTrail(trx, businessId, open, {
    businessMs,
    isRetry,
  })) {
    closed.set(subject, closedFor("trail_differs", reason));
  }
  return closed;
}

/** Refuses a debit of a bank account that no person has authorized since it last refused one. */
export function unauthorized(
  acceptedAt: string | undefined,
  revokedAtMs: number | undefined,
): Closed | null {
  const why = whyNoDebit(acceptedAt, revokedAtMs ?? null);
  return why === null ? null : closedFor("no_authorization", why);
}

function debitedBy(lines: ReadonlyMap<string, LineAtGate>): string[] {
  return [...new Set([...lines.values()].map(({ plan }) => plan.funding.sourceId))];
}

/** Returns the vendors whose records were changed since their lines were planned. */
function changedVendors(
  requests: readonly GateRequest[],
  lines: ReadonlyMap<string, LineAtGate>,
): string[] {
  return requests.flatMap(({ subject, record }) => {
    const plan = lines.get(subject)?.plan;
    if (plan === undefined || record === undefined) return [];
    return isChanged(plan.record, record) ? [plan.contactId] : [];
  });
}

/**
 * Compares the vendor's record with the one that was approved. Of an account the service shows only
 * the last digits, so a record that was changed since needs an answer of its own.
 */
function recordRefusal(
  { plan, escalated }: Pick<LineAtGate, "plan" | "escalated">,
  record: VendorRecord | undefined,
  confirmed: ConfirmedRecords,
  runId: string,
): Closed | null {
  if (record === undefined) return closedFor("moved", "the vendor's record was not read");
  if (!isChanged(plan.record, record) || confirmed.covers(plan, escalated, record.updatedAt))
    return null;
  const { contactId } = plan;
  const asked = { roles: rolesOfLine(plan, escalated), what: differing(plan.record, record) };
  return {
    code: "record_changed",
    reason: recordQuestion({ runId, contactId }, asked),
    record: recordKey(record.updatedAt),
  };
}

function leftOut({ droppedBy }: Pick<LineAtGate, "droppedBy">): Closed | null {
  return droppedBy === null ? null : closedFor("dropped", `${droppedBy} has left it out`);
}

function onHold(hold: { readonly reason: string } | undefined): Closed | null {
  return hold === undefined ? null : closedFor("on_hold", hold.reason);
}
