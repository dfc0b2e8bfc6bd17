import { requestLookedUp, requestRefusedByGate } from "../domain/facts/requests.ts";
import { record } from "../store/facts/record.ts";
import { byWorkflow } from "../contracts/authors.ts";
import type { Transaction } from "kysely";
import type { ClockReading } from "../business/clock.ts";
import type { OverLimitCode } from "../contracts/reason-codes.ts";
import type { VendorRecord } from "../contracts/pay-run.ts";
import { jsonHash } from "../store/audit/audit-said.ts";
import type { Tables } from "../store/schema/tables.ts";
import { isOpen, LEAVE_WITHIN_MS, lookupIsConclusive } from "./derive.ts";
import type { Now, Reading, Step, SubjectFacts, Wish } from "./facts.ts";
import type { Operation } from "./operations.ts";
import { refuseUnapproved } from "./gate-request.ts";
import { factsOf, judge } from "./gate-judgment.ts";
import { LinesAtGate } from "./lines-at-gate.ts";
import { notedPayment, noteSending } from "./notes.ts";
import {
  closeLookedUp,
  insertAdoptions,
  insertFoundAttempt,
  insertLookups,
  insertSends,
  type NewSend,
  type OpenedSend,
} from "./write.ts";

/** A request to the gate about one subject. */
export interface GateRequest {
  readonly subject: string;
  /** Null if nothing is to be sent: the gate still settles what was sent before. */
  readonly wish: Wish | null;
  /**
   * The approved request, if nothing is wanted because the work seems to be done: a restored store
   * may have forgotten the payment.
   */
  readonly approved?: Wish;
  readonly reading: Reading | null;
  /** The record of the vendor that it pays, as it was read with the rest. */
  readonly record?: VendorRecord;
  /** Set if the subject is a line of a run: neighboring lines share an entry of the trail. */
  readonly line?: { readonly runId: string; readonly lineNo: number };
}

/** Why a wanted request may not be sent. */
export interface Closed {
  readonly code: ClosedCode;
  /** One sentence for people. */
  readonly reason: string;
  /** The rule under which it has to be approved. */
  readonly ruleIndex?: number;
  /** The changed record that people are asked about. */
  readonly record?: string;
}

export function closedFor(code: ClosedCode, reason: string): Closed {
  return { code, reason };
}

export type ClosedCode =
  /** The caller no longer has the line, or the line was replanned. */
  | "moved"
  | "not_claimed"
  | "run_cancelled"
  | "rejected"
  /** People have refused the bill in another run since. */
  | "refused_since"
  /** An approver has left the line out, before it was sent or since. */
  | "dropped"
  | "run_ended"
  /** The run's playbook says that its runs only plan. */
  | "plan_only"
  | "on_hold"
  | "not_approved"
  /** The audit trail says something else than the store. */
  | "trail_differs"
  /** The vendor's record was changed, and nobody has said that its account is still right. */
  | "record_changed"
  /** The limit that forbids it. */
  | OverLimitCode
  /** Together with other payments it falls under a rule that it was not approved under. */
  | "other_rule"
  | "no_authorization"
  /** The request is not the approved one, or not what its approval names. */
  | "not_as_approved"
  /** A cancel or a deposit that is no longer wanted. */
  | "done"
  /** A cancel whose bill is not on hold. */
  | "hold_lifted";

export type GateAnswer =
  | { readonly kind: "open"; readonly send: OpenedSend }
  /** `step` says what is left to do about earlier sends. */
  | { readonly kind: "closed"; readonly closed: Closed; readonly step: GateStep }
  | { readonly kind: "step"; readonly step: GateStep };

/** What to do instead of sending. */
export type GateStep = Exclude<Step, { readonly kind: "send" }>;

/** The caller, with what it read before the transaction began. */
export interface GateCaller {
  readonly businessId: string;
  readonly operation: Operation;
  readonly sentBy: string;
  /** Workflow id, for the audit trail. */
  readonly owner: string;
  readonly clock: ClockReading;
}

/** What all checks of one transaction of the gate share. */
export interface GateReads {
  /** Business-clock time at which the gate judges. */
  readonly businessMs: number;
  readonly lines: LinesAtGate;
}

/**
 * Checks all that must hold before these subjects are sent. @returns the subjects that may not,
 * with the reason
 */
export type MayAct = (
  trx: Transaction<Tables>,
  requests: readonly (GateRequest & { readonly wish: Wish })[],
  reads: GateReads,
) => Promise<ReadonlyMap<string, Closed>>;

/**
 * Decides what to do about each subject, and writes the sends that it lets through. This is the one
 * gate of every money write (rule 3): it runs in the transaction that holds the business's lock,
 * and judges the rows as they are then. No other code makes these checks before sending.
 */
export async function askGate(
  trx: Transaction<Tables>,
  caller: GateCaller,
  requests: readonly GateRequest[],
  mayAct: MayAct,
): Promise<Map<string, GateAnswer>> {
  const { businessId, operation, clock } = caller;
  const judged = await judge(trx, caller, requests);
  const { steps, facts, now, heard, agoMs, businessMs, stepOf } = judged;
  const { atMs } = now;
  const wanted = requests.flatMap((each) =>
    steps.get(each.subject)?.kind === "send" && each.wish !== null
      ? [{ ...each, wish: each.wish }]
      : [],
  );
  const refused = await refusedOf(trx, caller, { wanted, steps, mayAct, businessMs });
  const answers = new Map<string, GateAnswer>();
  const sends: NewSend[] = [];
  for (const request of requests) {
    const { subject } = request;
    const closed = refused.get(subject);
    const step = closed === undefined ? steps.get(subject) : stepOf(request, null);
    if (step === undefined) throw new Error(`no step for ${subject}`);
    if (step.kind === "send") {
      const last = factsOf(facts, subject).attempts.find(({ seq }) => seq === step.seq);
      sends.push({
        businessId,
        subject,
        operation: operation.name,
        seq: step.seq,
        attemptId: last?.attemptId,
        sendNo: (last?.sends.at(-1)?.sendNo ?? 0) + 1,
        terms: step.terms,
        baseline: step.baseline,
        sentBy: caller.sentBy,
        openedAtMs: atMs,
        openedServiceMs: heard ? Math.ceil(clock.serviceMs + clock.serviceOffMs + agoMs) : null,
        leaveByMs: atMs + LEAVE_WITHIN_MS,
      });
    } else if (closed === undefined) answers.set(subject, { kind: "step", step });
    else answers.set(subject, { kind: "closed", closed, step });
  }
  await noteRefused(trx, caller, facts, refused);
  await recordLookups(trx, caller, { requests, facts, answers, now });
  const opened = await insertSends(trx, sends);
  const lines = new Map(requests.map(({ subject, line }) => [subject, line]));
  await noteSending(trx, caller, opened, lines);
  for (const send of opened) answers.set(send.subject, { kind: "open", send });
  return answers;
}

/**
 * Returns which requests may not be sent: first by the conditions of their kind, then because they
 * are not the approved ones.
 */
async function refusedOf(
  trx: Transaction<Tables>,
  caller: GateCaller,
  asked: {
    readonly wanted: Parameters<MayAct>[1];
    readonly steps: ReadonlyMap<string, Step>;
    readonly mayAct: MayAct;
    readonly businessMs: number;
  },
): Promise<ReadonlyMap<string, Closed>> {
  const { wanted, steps, mayAct, businessMs } = asked;
  if (wanted.length === 0) return new Map();
  const reads = { businessMs, lines: new LinesAtGate(trx, businessMs) };
  const refused = await mayAct(trx, wanted, reads);
  const leaving = wanted.flatMap(({ subject }) => {
    const step = steps.get(subject);
    return step?.kind === "send" && !refused.has(subject) ? [{ subject, terms: step.terms }] : [];
  });
  return new Map([...refused, ...(await refuseUnapproved(trx, caller, leaving, reads))]);
}

/** Calls `askGate` for one subject. */
export async function askAbout(
  trx: Transaction<Tables>,
  caller: GateCaller,
  request: GateRequest,
  mayAct: MayAct,
): Promise<GateAnswer> {
  const answer = (await askGate(trx, caller, [request], mayAct)).get(request.subject);
  if (answer === undefined) throw new Error(`the gate said nothing of ${request.subject}`);
  return answer;
}

/** Judges the earlier sends of a subject, and sends nothing. */
export async function lookupOnly(
  trx: Transaction<Tables>,
  caller: GateCaller,
  subject: string,
  reading: Reading,
): Promise<GateStep> {
  const nothing = { subject, wish: null, reading };
  const answer = await askAbout(trx, caller, nothing, () => Promise.resolve(new Map()));
  if (answer.kind === "open") throw new Error(`${subject}: nothing was to be sent`);
  return answer.step;
}

/** Records readings of unsettled subjects as lookups, and adopts the effects that they show. */
async function recordLookups(
  trx: Transaction<Tables>,
  { businessId, operation, owner, clock }: GateCaller,
  asked: {
    readonly requests: readonly GateRequest[];
    readonly facts: ReadonlyMap<string, SubjectFacts>;
    readonly answers: ReadonlyMap<string, GateAnswer>;
    readonly now: Now;
  },
): Promise<void> {
  const { facts, answers, now } = asked;
  const lookups = asked.requests.flatMap(({ subject, reading }) => {
    const answer = answers.get(subject);
    const step = answer === undefined || answer.kind === "open" ? undefined : answer.step;
    const isUnsettled = factsOf(facts, subject).attempts.some(({ sends }) => sends.some(isOpen));
    const isLookup = isUnsettled || step?.kind === "adopt";
    return reading !== null && isLookup ? [{ subject, reading, step }] : [];
  });
  if (lookups.length === 0) return;
  const lookupIds = await insertLookups(trx, businessId, lookups, now.atMs);
  for (const [index, { subject, reading, step }] of lookups.entries()) {
    const of = factsOf(facts, subject);
    const adopted = step?.kind === "adopt" ? step : undefined;
    const attempt = of.attempts.findLast(({ seq }) => adopted === undefined || seq === adopted.seq);
    const verdict = step?.kind === "person" ? "partial" : "none";
    let attemptId = attempt?.attemptId;
    if (adopted !== undefined) {
      attemptId ??= await insertFoundAttempt(trx, {
        businessId,
        subject,
        operation: operation.name,
        seq: adopted.seq,
        atMs: now.atMs,
      });
      await insertAdoptions(trx, {
        businessId,
        subject,
        attemptId,
        operation: operation.name,
        ids: adopted.ids,
        atMs: now.atMs,
      });
    }
    // An adopted payment is explained.
    const explained = { ...of, othersIds: [...of.othersIds, ...(adopted?.ids ?? [])] };
    const found = reading.shown.filter(({ id }) => adopted?.ids.includes(id) === true);
    await record(
      trx,
      requestLookedUp(
        { businessId, nowMs: clock.realMs, by: byWorkflow(owner), subject },
        {
          lookupId: lookupIds[index],
          attemptId,
          seq: adopted?.seq ?? attempt?.seq,
          begunAtMs: Math.floor(reading.begunAtMs),
          isWhole: reading.isWhole,
          shownIds: jsonHash(reading.shownIds),
          verdict: adopted === undefined ? verdict : "adopt",
          isConclusive: lookupIsConclusive(reading, explained, now),
          shown: reading.shown.length,
          found: found.map(notedPayment),
        },
      ),
    );
  }
  const subjects = lookups.map(({ subject }) => subject);
  await closeLookedUp(trx, businessId, subjects, clock.sandbox);
}

/**
 * Records in the trail which requests a check refused, if an attempt at the subject was made
 * before.
 */
async function noteRefused(
  trx: Transaction<Tables>,
  { businessId, operation, owner, clock }: GateCaller,
  facts: ReadonlyMap<string, SubjectFacts>,
  refused: ReadonlyMap<string, Closed>,
): Promise<void> {
  for (const [subject, { code }] of refused) {
    const last = factsOf(facts, subject).attempts.at(-1);
    if (last === undefined) continue;
    const head = { businessId, nowMs: clock.realMs, by: byWorkflow(owner), subject };
    const { attemptId, seq } = last;
    const refusal = { attemptId, seq, operation: operation.name, why: code };
    await record(trx, requestRefusedByGate(head, refusal));
  }
}
