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

/** One request under one key, as people are told of it. */
export interface AttemptView extends Pick<
  KeyedAttempt,
  "attemptId" | "seq" | "operation" | "idempotencyKey"
> {
  /**
   * `open`: it may still take effect; `applied`: it did; `dead`: its key never will; `refused`:
   * nothing came of it, and its key may be used again.
   */
  readonly state: AttemptState;
  /** `2xx`, `found by look-up` or the code of its last refusal; null where there is none. */
  readonly answer: string | null;
  /** Of what was sent last; null for one that a restored store knows by its effect alone. */
  readonly amountCents: number | null;
  readonly executionDate: string | null;
  readonly owner: string | null;
  /** Exact bytes of the last send. */
  readonly body: string;
  readonly sends: readonly SendView[];
  /** What it made, by its answers and by looks. */
  readonly paymentIds: readonly string[];
  /** Database clock. */
  readonly firstSentAtMs: number | null;
  readonly lastSentAtMs: number | null;
}

interface SendView {
  /** Database clock: when the gate let it through. */
  readonly atMs: number;
  readonly by: string;
  readonly result: SendResult;
  readonly status?: number;
  readonly code?: string;
  readonly message?: string;
}

/** All requests about a subject, first to last. */
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

/** As derived; a look that has settled what had no answer is known by the index. */
function stateOf(
  facts: SubjectFacts,
  attempt: KeyedAttempt,
  isOpenSubject: boolean,
  clocks: Pick<Now, "sandbox"> | undefined,
): AttemptState {
  if (isApplied(attempt)) return "applied";
  // The next key comes only after all that was sent before is settled; a late answer opens it anew.
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
  if (state === "applied") return wasAnsweredApplied(attempt) ? "2xx" : "found by look-up";
  return attempt.sends.findLast(({ code }) => code !== null)?.code ?? null;
}

function sendView({ openedAtMs, sentBy, result, status, code, message }: Send): SendView {
  return {
    atMs: openedAtMs,
    by: sentBy,
    result,
    ...(status === null ? {} : { status }),
    ...(code === null ? {} : { code }),
    ...(message === null ? {} : { message }),
  };
}
