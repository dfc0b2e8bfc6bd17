import type { Transaction } from "kysely";
import type { ClockReading } from "../business/clock.ts";
import { appendAudit } from "../store/audit/audit.ts";
import { databaseNowMs } from "../store/sql/database-clock.ts";
import type { Tables } from "../store/schema/tables.ts";
import { isOpen, LEAVE_WITHIN_MS, lookIsConclusive } from "./derive.ts";
import type { Now, Reading, Step, SubjectFacts, Wish } from "./facts.ts";
import { next } from "./next.ts";
import type { Operation } from "./operations.ts";
import { notedPayment, noteSending } from "./notes.ts";
import { loadSubjects } from "./rows.ts";
import {
  closeLookedAt,
  insertAdoptions,
  insertFoundAttempt,
  insertLooks,
  insertSends,
  type NewSend,
  type OpenedSend,
} from "./write.ts";

/** One subject before the gate. */
export interface GateRequest {
  readonly subject: string;
  /** Null where nothing is to be sent: what was sent before is looked after all the same. */
  readonly wish: Wish | null;
  /** What was approved, where nothing is wished because it seems to be done: a store may forget. */
  readonly approved?: Wish;
  readonly reading: Reading | null;
  /** Where the subject is a line of a run: its neighbours share an entry of the trail. */
  readonly line?: { readonly runId: string; readonly lineNo: number };
}

/** Why nothing may be sent for a subject, though something is wished. */
export interface Closed {
  readonly code: ClosedCode;
  /** A sentence for people. */
  readonly reason: string;
  /** Which limit it is. */
  readonly limitCode?: string;
}

export function closedFor(code: ClosedCode, reason: string): Closed {
  return { code, reason };
}

export type ClosedCode =
  /** The line is not the caller's any more, or was planned anew. */
  | "moved"
  | "not-claimed"
  | "run-cancelled"
  | "rejected"
  | "run-ended"
  | "on-hold"
  | "not-approved"
  | "over-limit"
  | "no-authorization"
  /** Of a cancel or a deposit: nobody wants it any more. */
  | "done"
  /** Of a cancel: its bill is not held. */
  | "hold-lifted";

export type GateAnswer =
  | { readonly kind: "open"; readonly send: OpenedSend }
  /** `step` says what is still to be done about what was sent before. */
  | { readonly kind: "closed"; readonly closed: Closed; readonly step: GateStep }
  | { readonly kind: "step"; readonly step: GateStep };

/** What is to be done instead of sending. */
export type GateStep = Exclude<Step, { readonly kind: "send" }>;

/** Who stands before the gate, with what they read before the transaction began. */
export interface GateCaller {
  readonly businessId: string;
  readonly operation: Operation;
  readonly sentBy: string;
  /** Workflow id, for the trail. */
  readonly owner: string;
  readonly clock: ClockReading;
}

/** Everything that must hold for these subjects to be sent; those that may not, with why. */
export type MayAct = (
  trx: Transaction<Tables>,
  requests: readonly (GateRequest & { readonly wish: Wish })[],
  /** Business-clock instant at which the gate asks. */
  businessMs: number,
) => Promise<ReadonlyMap<string, Closed>>;

/**
 * The one gate of every money write (rule 3): in the transaction that holds the business's lock,
 * over the rows as they are now, it says of each subject what is to be done, and writes the sends
 * that it lets through. Nobody else asks any of this before sending.
 */
export async function askGate(
  trx: Transaction<Tables>,
  caller: GateCaller,
  requests: readonly GateRequest[],
  mayAct: MayAct,
): Promise<Map<string, GateAnswer>> {
  const { businessId, operation, clock } = caller;
  const atMs = await databaseNowMs(trx);
  const heard = clock.sandbox || clock.serviceHeard;
  // Judged by the earliest that it may be at the service, written by the latest.
  const now: Now = { atMs, serviceMs: heard ? clock.serviceMs : null, sandbox: clock.sandbox };
  // A process may have been frozen since it read its clocks.
  const agoMs = Math.max(0, Date.now() - clock.realMs);
  // Only a sandbox has a business clock of its own: real time is the same for all processes.
  const businessMs = clock.sandbox ? Math.floor(clock.businessMs + agoMs * clock.scale) : atMs;
  const facts = await loadSubjects(
    trx,
    businessId,
    requests.map(({ subject }) => subject),
  );
  const stepOf = ({ subject, reading }: GateRequest, wish: Wish | null): Step =>
    next(operation, factsOf(facts, subject), wish, reading, now);
  const firstStep = (request: GateRequest): Step => {
    const step = stepOf(request, request.wish);
    if (step.kind !== "idle" || request.approved === undefined) return step;
    // Rule 10: what a restored store has forgotten is its own, though nothing is wished any more.
    const forgotten = stepOf(request, request.approved);
    const isOurs = forgotten.kind === "adopt" || isRestoredRest(forgotten);
    return factsOf(facts, request.subject).restored !== null && isOurs ? forgotten : step;
  };
  const steps = new Map(requests.map((each) => [each.subject, firstStep(each)]));
  const wanted = requests.flatMap((each) =>
    steps.get(each.subject)?.kind === "send" && each.wish !== null
      ? [{ ...each, wish: each.wish }]
      : [],
  );
  const none = new Map<string, Closed>();
  const refused = wanted.length === 0 ? none : await mayAct(trx, wanted, businessMs);
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
  await recordLooks(trx, caller, { requests, facts, answers, now });
  const opened = await insertSends(trx, sends);
  const lines = new Map(requests.map(({ subject, line }) => [subject, line]));
  await noteSending(trx, caller, opened, lines);
  for (const send of opened) answers.set(send.subject, { kind: "open", send });
  return answers;
}

/** As `askGate`, about one subject. */
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

/** Looks at what was sent about a subject, and sends nothing. */
export async function lookOnly(
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

function isRestoredRest(step: Step): boolean {
  return step.kind === "read" || (step.kind === "rest" && step.reason === "restored");
}

function factsOf(facts: ReadonlyMap<string, SubjectFacts>, subject: string): SubjectFacts {
  const found = facts.get(subject);
  if (found === undefined) throw new Error(`the ledger was not read for ${subject}`);
  return found;
}

/** What was read of subjects with something open counts as a look, and what it shows is taken over. */
async function recordLooks(
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
  const looks = asked.requests.flatMap(({ subject, reading }) => {
    const answer = answers.get(subject);
    const step = answer === undefined || answer.kind === "open" ? undefined : answer.step;
    const isUnsettled = factsOf(facts, subject).attempts.some(({ sends }) => sends.some(isOpen));
    const isLook = isUnsettled || step?.kind === "adopt";
    return reading !== null && isLook ? [{ subject, reading, step }] : [];
  });
  if (looks.length === 0) return;
  await insertLooks(trx, businessId, looks, now.atMs);
  for (const { subject, reading, step } of looks) {
    const of = factsOf(facts, subject);
    const adopted = step?.kind === "adopt" ? step : undefined;
    const attempt = of.attempts.findLast(({ seq }) => adopted === undefined || seq === adopted.seq);
    const verdict = step?.kind === "person" ? "partial" : "none";
    let attemptId = attempt?.attemptId;
    if (adopted !== undefined) {
      attemptId ??= await insertFoundAttempt(trx, {
        ...{ businessId, subject, operation: operation.name, seq: adopted.seq },
        atMs: now.atMs,
      });
      await insertAdoptions(trx, {
        ...{ businessId, subject, attemptId, operation: operation.name },
        ...{ ids: adopted.ids, atMs: now.atMs },
      });
    }
    // What is adopted from a look is explained by it.
    const explained = { ...of, othersIds: [...of.othersIds, ...(adopted?.ids ?? [])] };
    const found = reading.shown.filter(({ id }) => adopted?.ids.includes(id) === true);
    await appendAudit(trx, {
      businessId,
      nowMs: clock.realMs,
      actor: owner,
      action: "attempt.looked-up",
      subject,
      details: {
        attemptId,
        seq: adopted?.seq ?? attempt?.seq,
        verdict: adopted === undefined ? verdict : "adopt",
        isConclusive: lookIsConclusive(reading, explained, now),
        shown: reading.shown.length,
        found: found.map(notedPayment),
      },
    });
  }
  const subjects = looks.map(({ subject }) => subject);
  await closeLookedAt(trx, businessId, subjects, clock.sandbox);
}

/** Notes requests that a check keeps from being sent, where something was sent before. */
async function noteRefused(
  trx: Transaction<Tables>,
  { businessId, operation, owner, clock }: GateCaller,
  facts: ReadonlyMap<string, SubjectFacts>,
  refused: ReadonlyMap<string, Closed>,
): Promise<void> {
  for (const [subject, { code }] of refused) {
    const last = factsOf(facts, subject).attempts.at(-1);
    if (last === undefined) continue;
    await appendAudit(trx, {
      businessId,
      nowMs: clock.realMs,
      actor: owner,
      action: "attempt.refused",
      subject,
      details: {
        attemptId: last.attemptId,
        seq: last.seq,
        operation: operation.name,
        why: code,
      },
    });
  }
}
