import { definedOnly } from "../contracts/defined-only.ts";
import { isOpenSubject } from "../store/payables/open-subjects.ts";
import type { Db } from "../store/sql/db.ts";
import {
  type AttemptState,
  attemptState,
  isApplied,
  madeIdsOf,
  openSends,
  wasAnsweredApplied,
} from "./derive.ts";
import type { KeyedAttempt, Now, Send, SendResult, SubjectFacts } from "./facts.ts";
import { subjectFacts } from "./rows.ts";

/** All sends under one key, as people see them. */
export interface AttemptView extends Pick<
  KeyedAttempt,
  "attemptId" | "seq" | "operation" | "idempotencyKey"
> {
  /**
   * `open`: it may still take effect; `applied`: it did; `dead`: its key never will; `refused`: it
   * had no effect, and its key may be used again.
   */
  readonly state: AttemptState;
  /** `2xx`, `found by lookup`, or the code of the last refusal; null if there is none. */
  readonly answer: string | null;
  /**
   * Amount of the last send; null for an attempt that a restored store knows only by its effect.
   */
  readonly amountCents: number | null;
  readonly executionDate: string | null;
  readonly owner: string | null;
  /** Exact bytes of the last send. */
  readonly body: string;
  readonly sends: readonly SendView[];
  /** Payments that it created, from responses and lookups. */
  readonly paymentIds: readonly string[];
  /** Database clock. */
  readonly firstSentAtMs: number | null;
  readonly lastSentAtMs: number | null;
}

interface SendView {
  /** When the gate let it through, on the database clock. */
  readonly atMs: number;
  readonly by: string;
  readonly result: SendResult;
  readonly status?: number;
  readonly code?: string;
  readonly message?: string;
}

/** Returns all attempts at a subject, first to last. */
export async function attemptsOf(
  db: Db,
  businessId: string,
  subject: string,
  clocks?: Pick<Now, "sandbox">,
): Promise<AttemptView[]> {
  const facts = await subjectFacts(db, businessId, subject);
  if (facts.attempts.length === 0) return [];
  const isOpen = await isOpenSubject(db, businessId, subject);
  return facts.attempts.map((attempt) => viewOf(attempt, stateOf(facts, attempt, isOpen, clocks)));
}

/**
 * Derives an attempt's state. The index of open subjects says whether a lookup has settled a send
 * without a response.
 */
function stateOf(
  facts: SubjectFacts,
  attempt: KeyedAttempt,
  isOpenSubject: boolean,
  clocks: Pick<Now, "sandbox"> | undefined,
): AttemptState {
  if (isApplied(attempt)) return "applied";
  // The next key follows only after all earlier sends are settled; a late response reopens them.
  const isLast = attempt === facts.attempts.at(-1);
  const mayBeOpen = isOpenSubject && (isLast || attempt.lateAnswers.length > 0);
  if (mayBeOpen && openSends({ attempts: [attempt] }).length > 0) return "open";
  const state = attemptState(facts, attempt, clocks);
  return state === "open" ? "refused" : state;
}

function viewOf(attempt: KeyedAttempt, state: AttemptState): AttemptView {
  const { attemptId, seq, operation, idempotencyKey, sends } = attempt;
  const last = sends.at(-1);
  return {
    attemptId,
    seq,
    operation,
    state,
    idempotencyKey,
    answer: answerOf(attempt, state),
    amountCents: last?.amountCents ?? null,
    executionDate: last?.executionDate ?? null,
    owner: last?.owner ?? null,
    body: last?.body ?? "",
    sends: sends.map(sendView),
    paymentIds: madeIdsOf(attempt),
    firstSentAtMs: sends[0]?.openedAtMs ?? null,
    lastSentAtMs: last?.openedAtMs ?? null,
  };
}

function answerOf(attempt: KeyedAttempt, state: AttemptState): string | null {
  if (state === "open") return null;
  if (state === "applied") return wasAnsweredApplied(attempt) ? "2xx" : "found by lookup";
  return attempt.sends.findLast(({ code }) => code !== null)?.code ?? null;
}

function sendView({ openedAtMs, sentBy, result, status, code, message }: Send): SendView {
  return {
    atMs: openedAtMs,
    by: sentBy,
    result,
    ...definedOnly({
      status: status ?? undefined,
      code: code ?? undefined,
      message: message ?? undefined,
    }),
  };
}
