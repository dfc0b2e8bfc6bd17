import { DAY_MS, HOUR_MS } from "../contracts/durations.ts";
import { OPEN_RESULTS } from "../store/schema/ledger.ts";
import type {
  KeyedAttempt,
  Lookup,
  Now,
  Restored,
  Send,
  SendResult,
  ShownThing,
  SubjectFacts,
} from "./facts.ts";

/** How long after the gate a request's bytes may leave (rule 2). */
export const LEAVE_WITHIN_MS = 15_000;

/**
 * Returns how long after its arrival the service may carry a request out, in milliseconds; in a
 * sandbox, on its wire clock.
 */
export function windowMs(sandbox: boolean): number {
  return (sandbox ? 6 : 30) * 60_000;
}

/** One minute for the bytes to arrive, one for a payment to show. */
const MARGIN_MS = 2 * 60_000;

/**
 * Returns how long after a send's mark a lookup must begin to be conclusive about it (rule 6), in
 * milliseconds.
 */
export function conclusiveAfterMs(clocks: Clocks): number {
  return windowMs(clocks.sandbox) + MARGIN_MS;
}

/** Says which clocks count. */
type Clocks = Pick<Now, "sandbox">;

/**
 * The default if the caller doesn't say: the longer window, which is right for the service and
 * later than necessary for a sandbox.
 */
const AT_SERVICE: Clocks = { sandbox: false };

const OPEN: ReadonlySet<SendResult> = new Set(OPEN_RESULTS);

/** True if the send may still take effect, by the result that its sender recorded. */
export function isOpen(send: Pick<Send, "result">): boolean {
  return OPEN.has(send.result);
}

/** Returns a send's result, followed by the results of its late responses. */
export function resultsOf(attempt: KeyedAttempt, { sendId, result }: Send): readonly SendResult[] {
  const late = attempt.lateAnswers.filter((answer) => answer.sendId === sendId);
  return [result, ...late.map((answer) => answer.result)];
}

/**
 * Returns every send of the subject that is not closed. A late response can open a send, but closes
 * none.
 */
export function openSends({ attempts }: Pick<SubjectFacts, "attempts">): readonly Send[] {
  return attempts.flatMap((attempt) =>
    attempt.sends.filter((send) => resultsOf(attempt, send).some((result) => OPEN.has(result))),
  );
}

/** The latest time at which the service can have received a send, by each clock that counts. */
interface Mark {
  readonly databaseMs: number | null;
  readonly serviceMs: number | null;
}

/** A `Date` that is further from the clock by which its request left is no time at all. */
const DATE_OFF_MAX_MS = HOUR_MS;

/**
 * Returns the later of `leave_by` and the response's `Date`, never the time of recording (rule 6).
 */
export function markOf(send: Send, { sandbox }: Clocks = AT_SERVICE): Mark {
  const { openedServiceMs, answerDateMs, leaveByMs } = send;
  const leftMs = openedServiceMs === null ? null : openedServiceMs + LEAVE_WITHIN_MS;
  const offMs = Math.abs((answerDateMs ?? 0) - (leftMs ?? leaveByMs));
  const answeredMs = offMs <= DATE_OFF_MAX_MS ? answerDateMs : null;
  return { databaseMs: sandbox ? null : leaveByMs, serviceMs: laterOf(leftMs, answeredMs) };
}

function laterOf(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.max(one, other);
}

/**
 * Returns how long after `at` a lookup must begin to be conclusive about a send, in milliseconds: 0
 * or less if a lookup that begins at `at` is conclusive; null if the clocks can't tell.
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
  // Without the service's clock, the time of recording stands in: it is never before the response's
  // `Date`.
  const answeredMs = send.answerDateMs === null ? null : send.answeredAtMs;
  return Math.max(databaseMs, answeredMs ?? databaseMs) + afterMs - at.atMs;
}

/** True if a lookup began late enough to show any effect that the send had. */
export function covers(lookup: Lookup, send: Send, clocks: Clocks = AT_SERVICE): boolean {
  const at = { atMs: lookup.begunAtMs, serviceMs: lookup.begunServiceMs };
  const leftMs = untilCoveredMs(send, at, clocks);
  return leftMs !== null && leftMs <= 0;
}

/**
 * Returns the ids that are certainly not the effect of a send without a response (rules 6 and 9).
 */
export function accountedIds({ attempts, othersIds }: SubjectFacts): ReadonlySet<string> {
  const ids = new Set(othersIds);
  for (const attempt of attempts) {
    for (const id of madeIdsOf(attempt)) ids.add(id);
    for (const { baseline } of attempt.sends) for (const id of baseline) ids.add(id);
  }
  return ids;
}

/**
 * True if a lookup is conclusive about every send that left before it (rule 6).
 *
 * If no send was open, external payments don't matter: the next baseline contains them.
 */
export function lookupIsConclusive(
  lookup: Lookup,
  facts: SubjectFacts,
  clocks: Clocks = AT_SERVICE,
): boolean {
  return isLastWord(lookup, openSends(facts), accountedIds(facts), clocks);
}

function isLastWord(
  lookup: Lookup,
  open: readonly Send[],
  accounted: ReadonlySet<string>,
  clocks: Clocks,
): boolean {
  if (!lookup.isWhole) return false;
  const before = open.filter(({ openedAtMs }) => openedAtMs <= lookup.begunAtMs);
  if (before.length === 0) return true;
  return (
    before.every((send) => covers(lookup, send, clocks)) &&
    lookup.shownIds.every((id) => accounted.has(id))
  );
}

/**
 * Returns when the newest conclusive lookup began, at `untilMs` or before; null if there is none.
 */
export function lastConclusiveMs(
  facts: SubjectFacts,
  clocks: Clocks = AT_SERVICE,
  untilMs = Number.POSITIVE_INFINITY,
): number | null {
  const open = openSends(facts);
  const accounted = accountedIds(facts);
  const begun = facts.lookups
    .filter((lookup) => lookup.begunAtMs <= untilMs && isLastWord(lookup, open, accounted, clocks))
    .map(({ begunAtMs }) => begunAtMs);
  return begun.length === 0 ? null : begun.reduce((one, other) => Math.max(one, other));
}

/** Returns the open sends that no conclusive lookup has followed. */
export function unsettledSends(facts: SubjectFacts, clocks: Clocks = AT_SERVICE): readonly Send[] {
  const open = openSends(facts);
  if (open.length === 0) return open;
  const lookupMs = lastConclusiveMs(facts, clocks);
  return open.filter(({ openedAtMs }) => lookupMs === null || openedAtMs > lookupMs);
}

/**
 * True if a send may still take effect. Callers must check this before they drop, release or give
 * up a subject (rule 11).
 */
export function mayStillPay(facts: SubjectFacts, clocks: Clocks = AT_SERVICE): boolean {
  return unsettledSends(facts, clocks).length > 0;
}

/** Returns the ids of everything that an attempt created, by its responses and lookups. */
export function madeIdsOf({ sends, lateAnswers, adoptedIds }: KeyedAttempt): readonly string[] {
  const made = [...sends, ...lateAnswers].filter(({ result }) => result === "applied");
  return [...new Set([...made.flatMap(({ madeIds }) => madeIds), ...adoptedIds])];
}

/**
 * True if a response or a lookup says that the attempt took effect. That never becomes false again.
 */
export function isApplied(attempt: KeyedAttempt): boolean {
  return attempt.adoptedIds.length > 0 || wasAnsweredApplied(attempt);
}

/** True if a response says that the attempt took effect, not only a lookup. */
export function wasAnsweredApplied({ sends, lateAnswers }: KeyedAttempt): boolean {
  return [...sends, ...lateAnswers].some(({ result }) => result === "applied");
}

/** From this many on, a 401 or 403 may be a stored response that is replayed. */
const TOKEN_REFUSALS = 3;

/** True if the service refused the token, not the request. */
function isTokenRefusal({ result, status }: Send): boolean {
  return result === "refused" && (status === 401 || status === 403);
}

/**
 * True if, by its rows, the key can never take effect anymore (rule 8). Only a reading can say
 * whether a payment that it made stands unpaid.
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
 * True if a conflict can't come from a request of ours that was still running: when this send left,
 * each earlier one was closed, or a conclusive lookup had followed it.
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
  const lookupMs = lastConclusiveMs(facts, clocks, leftMs);
  return lookupMs !== null && notClosed.every(({ openedAtMs }) => openedAtMs <= lookupMs);
}

/** For people: `dead` will never be applied, `refused` may be sent again. */
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

const LATELY_MS = DAY_MS;

/**
 * Counts the last keys in a row that had no effect within a day: after a person's correction, a new
 * key may succeed. Refusals of the token don't count: they concern the whole business, and people
 * are notified of them.
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

/**
 * True unless the service created it so late after the loss that no send from before the loss can
 * have created it.
 */
export function mayBeForgotten(
  { createdAtMs }: ShownThing,
  { serviceMs }: Restored,
  now: Clocks,
): boolean {
  if (now.sandbox || createdAtMs === null || serviceMs === null) return true;
  return createdAtMs <= serviceMs + LEAVE_WITHIN_MS + conclusiveAfterMs(now);
}
