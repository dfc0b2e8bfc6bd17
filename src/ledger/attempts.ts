import type { AttemptState, AttemptView, SendView } from "../contracts/attempt.ts";
import type { Db } from "../store/db.ts";
import { openSubjects } from "../store/open-subjects.ts";
import { attemptState, madeIdsOf, wasAnsweredApplied } from "./derive.ts";
import type { KeyedAttempt, Send, SubjectFacts } from "./facts.ts";
import { subjectFacts } from "./rows.ts";

/** The requests about a subject as people are shown them, first to last; one row a key. */
export async function attemptsOf(
  db: Db,
  businessId: string,
  subject: string,
): Promise<AttemptView[]> {
  const facts = await subjectFacts(db, businessId, subject);
  const isOpen = (await openSubjects(db, businessId, [subject])).has(subject);
  return facts.attempts.map((attempt) => viewOf(facts, attempt, isOpen));
}

/** Instant of a send, on the service's clock where it was known. */
export function sentAtMs({ openedAtMs, openedServiceMs }: Send): number {
  return openedServiceMs ?? openedAtMs;
}

/** @param isOpen whether anything of the subject may still take effect, looks considered */
function viewOf(facts: SubjectFacts, attempt: KeyedAttempt, isOpen: boolean): AttemptView {
  const { sends } = attempt;
  const last = sends.at(-1);
  const byAnswers = attemptState(facts, attempt);
  const state = byAnswers === "open" && !isOpen ? "not-applied" : byAnswers;
  return {
    attemptId: attempt.attemptId,
    seq: attempt.seq,
    operation: attempt.operation,
    state,
    answer: answerOf(attempt, state),
    idempotencyKey: attempt.idempotencyKey,
    body: last?.body ?? "",
    owner: last?.owner ?? null,
    amountCents: last?.amountCents ?? null,
    executionDate: last?.executionDate ?? null,
    sends: sends.map(sendView),
    paymentIds: madeIdsOf(attempt),
    firstSentAtMs: sends[0] === undefined ? null : sentAtMs(sends[0]),
    lastSentAtMs: last === undefined ? null : sentAtMs(last),
  };
}

function answerOf(attempt: KeyedAttempt, state: AttemptState): string | null {
  if (state === "applied") return wasAnsweredApplied(attempt) ? "2xx" : "found by look-up";
  return attempt.sends.findLast(({ code }) => code !== null)?.code ?? null;
}

function sendView(send: Send): SendView {
  const { sentBy, result, status, code, message } = send;
  return {
    atMs: sentAtMs(send),
    by: sentBy,
    result,
    ...(status === null ? {} : { status }),
    ...(code === null ? {} : { code }),
    ...(message === null ? {} : { message }),
  };
}
