import { createHash } from "node:crypto";
import type { Transaction } from "kysely";
import type { Attempt, AttemptSend } from "../contracts/attempt.ts";
import type { BegunAttempt } from "../domain/attempts/sends.ts";
import { appendOfLines } from "./audit-lines.ts";
import { appendAudit } from "./audit.ts";
import {
  type AttemptChange,
  changeLiveAttempt,
  insertAttempt,
  insertAttempts,
  reviveAttempt,
} from "./attempts.ts";
import type { Tables } from "./tables.ts";

/** How the attempt of a send gets into the ledger: as a new row, live again, or it is live. */
export type SendMode = "insert" | "revive" | "resend";

/**
 * Writes that a request is about to be sent, into the ledger and the audit trail, in the
 * transaction that has checked that it may be.
 *
 * What is not written here is not sent; what is written here may have been sent, whatever happens
 * to this process next.
 *
 * @returns false where the attempt has its final answer, and nothing may be sent any more
 */
export async function writeAttempt(
  trx: Transaction<Tables>,
  attempt: BegunAttempt,
  mode: SendMode,
  nowMs: number,
): Promise<boolean> {
  if (!(await write(trx, attempt, mode, nowMs))) return false;
  const details = { ...sameOfFirst(attempt), ...ofSend(attempt) };
  await note(trx, attempt, { action: SENDING, nowMs, details });
  return true;
}

async function write(
  trx: Transaction<Tables>,
  attempt: BegunAttempt,
  mode: SendMode,
  nowMs: number,
): Promise<boolean> {
  if (mode === "insert") {
    await insertAttempt(trx, attempt, nowMs);
    return true;
  }
  if (mode === "revive") {
    await reviveAttempt(trx, attempt, nowMs);
    return true;
  }
  const { sends, firstSentAtMs, lastSentAtMs, body, executionDate, knownPaymentIds, owner } =
    attempt;
  return changeLiveAttempt(
    trx,
    attempt.attemptId,
    { sends, firstSentAtMs, lastSentAtMs, body, executionDate, knownPaymentIds, owner },
    nowMs,
  );
}

/** As `writeAttempt`, for the first sends of first attempts at lines of one run. */
export async function writeFirstAttempts(
  trx: Transaction<Tables>,
  runId: string,
  lines: readonly { readonly lineNo: number; readonly attempt: BegunAttempt }[],
  nowMs: number,
): Promise<void> {
  const [first] = lines;
  if (first === undefined) return;
  await insertAttempts(
    trx,
    lines.map(({ attempt }) => attempt),
    nowMs,
  );
  await appendOfLines(trx, {
    businessId: first.attempt.businessId,
    runId,
    nowMs,
    actor: first.attempt.owner,
    action: SENDING,
    details: sameOfFirst(first.attempt),
    lines: lines.map(({ lineNo, attempt }) => ({
      payableId: attempt.subject,
      lineNo,
      details: ofSend(attempt),
    })),
  });
}

const SENDING = "attempt.sending";

function sameOfFirst({ operation, seq, sends }: Attempt) {
  return { operation, seq, send: sends.length };
}

function ofSend({ attemptId, idempotencyKey, body, amountCents }: Attempt) {
  const bodyHash = createHash("sha256").update(body).digest("hex");
  return { attemptId, key: idempotencyKey, bodyHash, amountCents };
}

/** Writes what one send of a live attempt came to. */
export async function answerAttempt(
  trx: Transaction<Tables>,
  attempt: Attempt,
  send: AttemptSend,
  change: AttemptChange,
  nowMs: number,
): Promise<void> {
  if (!(await changeLiveAttempt(trx, attempt.attemptId, change, nowMs))) return;
  const { result, status, code, atMs } = send;
  const details = { ...named(attempt), sentAtMs: Math.round(atMs), result, status, code };
  await note(trx, attempt, { action: "attempt.answered", nowMs, details });
}

/** What a look-up at an attempt has found, JSON-safe. */
export interface LookUpFacts {
  readonly verdict: string;
  /** True where it was made late enough to be the last word. */
  readonly isConclusive: boolean;
  /** How many payments the service showed. */
  readonly shown: number;
  /** Those that were not there before the first send. */
  readonly found: readonly NotedPayment[];
}

/** What the audit trail keeps of a payment. */
export interface NotedPayment {
  readonly id: string;
  readonly amountCents: number;
  readonly status: string;
}

/**
 * Records a look-up at an attempt, which only then lets a new key follow.
 *
 * @param times.serviceMs service-clock instant of the look-up
 */
export async function recordLookUp(
  trx: Transaction<Tables>,
  attempt: Attempt,
  facts: LookUpFacts,
  times: { readonly serviceMs: number; readonly nowMs: number },
): Promise<void> {
  const { serviceMs, nowMs } = times;
  await changeLiveAttempt(trx, attempt.attemptId, { lookedUpAtMs: serviceMs }, nowMs);
  const details = { ...named(attempt), ...facts, found: facts.found.map(notedPayment) };
  await note(trx, attempt, { action: "attempt.looked-up", nowMs, details });
}

export function notedPayment({ id, amountCents, status }: NotedPayment): NotedPayment {
  return { id, amountCents, status };
}

/** How an attempt ends. */
export interface AttemptEnding extends AttemptChange {
  /** `adopted`: applied as well, by what a look-up has found. */
  readonly as: "applied" | "adopted" | "dead" | "released";
  /** Who ends it, where that is not the attempt's owner. */
  readonly by?: string;
  /** What else the audit trail keeps of it, JSON-safe. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Ends a live attempt for good, or gives it up; false where it is not live any more. */
export async function endAttempt(
  trx: Transaction<Tables>,
  attempt: Attempt,
  ending: AttemptEnding,
  nowMs: number,
): Promise<boolean> {
  const { as, by, details, ...change } = ending;
  const state = as === "adopted" ? "applied" : as;
  const isMine = await changeLiveAttempt(trx, attempt.attemptId, { ...change, state }, nowMs);
  if (!isMine) return false;
  const answer = change.answer ?? null;
  await note(trx, attempt, {
    action: as === "applied" ? "attempt.answered" : `attempt.${as}`,
    nowMs,
    details: { ...named(attempt), ...(as === "applied" ? { result: as } : { answer }), ...details },
    ...(by === undefined ? {} : { actor: by }),
  });
  return true;
}

/** Writes that a request was not sent, because a check that it must pass has refused it. */
export async function noteRefusal(
  trx: Transaction<Tables>,
  attempt: Attempt,
  { why, nowMs }: { readonly why: string; readonly nowMs: number },
): Promise<void> {
  const details = { ...named(attempt), operation: attempt.operation, why };
  await note(trx, attempt, { action: "attempt.refused", nowMs, details });
}

function named({ attemptId, seq }: Attempt) {
  return { attemptId, seq };
}

async function note(
  trx: Transaction<Tables>,
  { businessId, subject, owner }: Attempt,
  entry: {
    readonly action: string;
    readonly nowMs: number;
    readonly details: Readonly<Record<string, unknown>>;
    readonly actor?: string;
  },
): Promise<void> {
  await appendAudit(trx, { businessId, subject, actor: owner, ...entry });
}
