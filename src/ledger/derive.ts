import type {
  KeyedAttempt,
  Look,
  Now,
  Restored,
  Send,
  SendResult,
  Shown,
  SubjectFacts,
} from "./facts.ts";

/** The longest that bytes may leave after the gate (rule 2). */
export const LEAVE_WITHIN_MS = 15_000;

/** How long a request may be carried out after it arrived; a sandbox's on its wire clock. */
export function windowMs(sandbox: boolean): number {
  return (sandbox ? 6 : 30) * 60_000;
}

/** One minute for bytes to arrive, one for a payment to show. */
const MARGIN_MS = 2 * 60_000;

/** How long after a send's mark a look must begin to be the last word on it (rule 6). */
export function conclusiveAfterMs(clocks: Clocks): number {
  return windowMs(clocks.sandbox) + MARGIN_MS;
}

/** Which clocks count. */
type Clocks = Pick<Now, "sandbox">;

/** Where nobody says: the longer window, which is right at the service and late in a sandbox. */
const AT_SERVICE: Clocks = { sandbox: false };

/** Results that leave open whether a send takes effect (rule 5). */
export const OPEN: ReadonlySet<SendResult> = new Set([
  "pending",
  "unknown",
  "conflict",
  "unconfirmed",
]);

/** True where what the sender heard leaves open whether the send takes effect. */
export function isOpen(send: Pick<Send, "result">): boolean {
  return OPEN.has(send.result);
}

/** What was heard of a send: its result, and what came too late to be its result. */
export function resultsOf(attempt: KeyedAttempt, { sendId, result }: Send): readonly SendResult[] {
  const late = attempt.lateAnswers.filter((answer) => answer.sendId === sendId);
  return [result, ...late.map((answer) => answer.result)];
}

/** Every send of the subject that is not closed; a late answer closes nothing, but may open. */
export function openSends({ attempts }: Pick<SubjectFacts, "attempts">): readonly Send[] {
  return attempts.flatMap((attempt) =>
    attempt.sends.filter((send) => resultsOf(attempt, send).some((result) => OPEN.has(result))),
  );
}

/** The latest instant at which the service can have got a send, by each clock that counts. */
interface Mark {
  readonly databaseMs: number | null;
  readonly serviceMs: number | null;
}

/** The later of `leave_by` and the `Date` of its answer, never the time of recording (rule 6). */
export function markOf(send: Send, { sandbox }: Clocks = AT_SERVICE): Mark {
  const { openedServiceMs, answerDateMs, leaveByMs } = send;
  const leftMs = openedServiceMs === null ? null : openedServiceMs + LEAVE_WITHIN_MS;
  return { databaseMs: sandbox ? null : leaveByMs, serviceMs: laterOf(leftMs, answerDateMs) };
}

function laterOf(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.max(one, other);
}

/**
 * How long before an instant becomes one from which a look is the last word on a send; 0 or less
 * where it is one already, null where the clocks can't tell.
 */
export function untilCoveredMs(
  send: Send,
  at: { readonly atMs: number; readonly serviceMs: number | null },
  clocks: Clocks = AT_SERVICE,
): number | null {
  const afterMs = conclusiveAfterMs(clocks);
  const { databaseMs, serviceMs } = markOf(send, clocks);
  if (serviceMs !== null && at.serviceMs !== null) {
    const byServiceMs = serviceMs + afterMs - at.serviceMs;
    if (databaseMs === null) return byServiceMs;
    return Math.max(byServiceMs, databaseMs + afterMs - at.atMs);
  }
  if (databaseMs === null) return null;
  // The service's clock isn't heard now: the time of recording is never before its answer's `Date`.
  const answeredMs = send.answerDateMs === null ? null : send.answeredAtMs;
  return Math.max(databaseMs, answeredMs ?? databaseMs) + afterMs - at.atMs;
}

/** True where a look began so late that it shows whatever the send came to. */
export function covers(look: Look, send: Send, clocks: Clocks = AT_SERVICE): boolean {
  const at = { atMs: look.begunAtMs, serviceMs: look.begunServiceMs };
  const leftMs = untilCoveredMs(send, at, clocks);
  return leftMs !== null && leftMs <= 0;
}

/** Whatever is known not to come from a send that had no answer (rules 6 and 9). */
export function accountedIds({ attempts, othersIds }: SubjectFacts): ReadonlySet<string> {
  const ids = new Set(othersIds);
  for (const attempt of attempts) {
    for (const id of madeIdsOf(attempt)) ids.add(id);
    for (const { baseline } of attempt.sends) for (const id of baseline) ids.add(id);
  }
  return ids;
}

/**
 * True where a look is the last word on every send that left before it (rule 6).
 *
 * Where nothing was open, what others did meanwhile doesn't matter: the next baseline has it.
 */
export function lookIsConclusive(
  look: Look,
  facts: SubjectFacts,
  clocks: Clocks = AT_SERVICE,
): boolean {
  return isLastWord(look, openSends(facts), accountedIds(facts), clocks);
}

function isLastWord(
  look: Look,
  open: readonly Send[],
  accounted: ReadonlySet<string>,
  clocks: Clocks,
): boolean {
  if (!look.isWhole) return false;
  const before = open.filter(({ openedAtMs }) => openedAtMs <= look.begunAtMs);
  if (before.length === 0) return true;
  return (
    before.every((send) => covers(look, send, clocks)) &&
    look.shownIds.every((id) => accounted.has(id))
  );
}

/** When the newest conclusive look began that began by then; null where there is none. */
export function lastConclusiveMs(
  facts: SubjectFacts,
  clocks: Clocks = AT_SERVICE,
  untilMs = Number.POSITIVE_INFINITY,
): number | null {
  const open = openSends(facts);
  const accounted = accountedIds(facts);
  const begun = facts.looks
    .filter((look) => look.begunAtMs <= untilMs && isLastWord(look, open, accounted, clocks))
    .map(({ begunAtMs }) => begunAtMs);
  return begun.length === 0 ? null : begun.reduce((one, other) => Math.max(one, other));
}

/** Open sends after which no conclusive look came. */
export function unsettledSends(facts: SubjectFacts, clocks: Clocks = AT_SERVICE): readonly Send[] {
  const open = openSends(facts);
  if (open.length === 0) return open;
  const lookMs = lastConclusiveMs(facts, clocks);
  return open.filter(({ openedAtMs }) => lookMs === null || openedAtMs > lookMs);
}

/** What everybody else must ask before a subject is dropped, released or given up (rule 11). */
export function mayStillPay(facts: SubjectFacts, clocks: Clocks = AT_SERVICE): boolean {
  return unsettledSends(facts, clocks).length > 0;
}

/** Everything that an attempt made, as its answers and looks tell. */
export function madeIdsOf({ sends, lateAnswers, adoptedIds }: KeyedAttempt): readonly string[] {
  const made = [...sends, ...lateAnswers].filter(({ result }) => result === "applied");
  return [...new Set([...made.flatMap(({ madeIds }) => madeIds), ...adoptedIds])];
}

/** True where an answer or a look says that the attempt took effect; nothing takes that away. */
export function isApplied(attempt: KeyedAttempt): boolean {
  return attempt.adoptedIds.length > 0 || wasAnsweredApplied(attempt);
}

/** True where an answer says so, and not only a look. */
export function wasAnsweredApplied({ sends, lateAnswers }: KeyedAttempt): boolean {
  return [...sends, ...lateAnswers].some(({ result }) => result === "applied");
}

/** From so many on, 401 and 403 may be a stored answer that is replayed. */
const TOKEN_REFUSALS = 3;

/** True where the service refused who asked, not what was asked for. */
function isTokenRefusal({ result, status }: Send): boolean {
  return result === "refused" && (status === 401 || status === 403);
}

/**
 * True where the key will never take effect any more, by its rows (rule 8); whether something that
 * was applied is known to be unpaid is for a reading to say.
 */
export function isUsedUp(
  facts: SubjectFacts,
  attempt: KeyedAttempt,
  clocks: Clocks = AT_SERVICE,
): boolean {
  const has = (send: Send, result: SendResult) => resultsOf(attempt, send).includes(result);
  if (attempt.sends.some((send) => has(send, "unconfirmed") || has(send, "rejected"))) return true;
  if (attempt.sends.filter(isTokenRefusal).length >= TOKEN_REFUSALS) return true;
  return attempt.sends.some((send) => has(send, "conflict") && isBound(facts, send, clocks));
}

/**
 * True where a conflict can't come from a request of ours that still ran: when this send left,
 * each earlier one was closed, or a conclusive look had come after it.
 */
function isBound(facts: SubjectFacts, conflicted: Send, clocks: Clocks): boolean {
  const leftMs = conflicted.openedAtMs;
  const sends = facts.attempts.flatMap((attempt) => attempt.sends);
  const at = sends.findIndex(({ sendId }) => sendId === conflicted.sendId);
  const open = new Set(openSends(facts));
  const notClosed = sends
    .slice(0, at)
    .filter((send) => open.has(send) || send.answeredAtMs === null || send.answeredAtMs > leftMs);
  if (notClosed.length === 0) return true;
  const lookMs = lastConclusiveMs(facts, clocks, leftMs);
  return lookMs !== null && notClosed.every(({ openedAtMs }) => openedAtMs <= lookMs);
}

/** For people and for the index: `dead` won't be applied any more, `refused` may be sent again. */
export type AttemptState = "open" | "applied" | "dead" | "refused";

export function attemptState(
  facts: SubjectFacts,
  attempt: KeyedAttempt,
  clocks: Clocks = AT_SERVICE,
): AttemptState {
  if (isApplied(attempt)) return "applied";
  if (isUsedUp(facts, attempt, clocks)) return "dead";
  return openSends({ attempts: [attempt] }).length === 0 ? "refused" : "open";
}

const LATELY_MS = 86_400_000;

/**
 * How many keys in a row came to nothing within a day: what a person has mended can be tried on
 * another one. A token that is refused is the whole business's fault, and people know of it.
 */
export function deadKeysLately(facts: SubjectFacts, now: Pick<Now, "atMs" | "sandbox">): number {
  const { attempts } = facts;
  const lived = attempts.findLastIndex((attempt) => attemptState(facts, attempt, now) !== "dead");
  return attempts
    .slice(lived + 1)
    .filter(
      ({ createdAtMs, sends }) =>
        now.atMs - createdAtMs < LATELY_MS && !sends.every(isTokenRefusal),
    ).length;
}

/** Nothing that was sent before a loss is made so late after it. */
export function mayBeForgotten(
  { createdAtMs }: Shown,
  { serviceMs }: Restored,
  now: Clocks,
): boolean {
  if (now.sandbox || createdAtMs === null || serviceMs === null) return true;
  return createdAtMs <= serviceMs + LEAVE_WITHIN_MS + conclusiveAfterMs(now);
}
