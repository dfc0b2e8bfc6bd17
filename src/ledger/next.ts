import {
  accountedIds,
  conclusiveAfterMs,
  covers,
  deadKeysLately,
  isApplied,
  isUsedUp,
  lastConclusiveMs,
  LEAVE_WITHIN_MS,
  madeIdsOf,
  mayBeForgotten,
  openSends,
  resultsOf,
  unsettledSends,
  untilCoveredMs,
  wasAnsweredApplied,
} from "./derive.ts";
import type {
  KeyedAttempt,
  Look,
  Now,
  Reading,
  RestReason,
  Send,
  Shown,
  Step,
  SubjectFacts,
  Wish,
} from "./facts.ts";
import type { Operation } from "./operations.ts";

/** Rule 3: what a gate goes by was read so short a time ago. */
const READING_FRESH_MS = 2 * 60_000;

/** Rule 4: well within the quarter of an hour for which a key is remembered. */
const SAME_KEY_MS = 10 * 60_000;

/** So many keys in a row come to nothing within a day before a person must look. */
const DEAD_KEYS_MAX = 6;

const REST_MIN_MS = 1_000;
const REST_NOT_SHOWN_MS = 60_000;
const REST_CLOCK_MS = 5_000;

/** What everything is judged by once the subject has been read. */
interface Asked {
  readonly operation: Operation;
  /** With the reading as their newest look. */
  readonly facts: SubjectFacts;
  readonly wish: Wish | null;
  readonly reading: Reading;
  readonly now: Now;
  /** What nobody has explained yet. */
  readonly unexplained: readonly Shown[];
}

type Rule = (asked: Asked) => Step | null;

/** In this order; the first that has something to say says it. */
const RULES: readonly Rule[] = [
  adoptEffect,
  stayApplied,
  explainFirst,
  settleUnwished,
  hearClock,
  waitAfterLoss,
  beginFirstKey,
  settleOtherKeys,
  takeNextKey,
  sendSameBytes,
  sendOtherBytes,
];

/**
 * What is to be done about a subject next: pure and total, so that the same rows give the same step
 * after any crash, whoever asks. Rules are numbered as in the decision record of the ledger.
 *
 * @param wish what somebody wants sent; null where the gate is closed or nobody wants anything
 * @param reading what was read of the subject; null where it was not read yet
 */
export function next(
  operation: Operation,
  facts: SubjectFacts,
  wish: Wish | null,
  reading: Reading | null,
  now: Now,
): Step {
  if (wish === null && unsettledSends(facts, now).length === 0) return unwished(facts);
  const leaving = waitForLeaving(facts, now);
  if (leaving !== null) return leaving;
  if (reading === null) return { kind: "read", reason: "It has not been read yet." };
  if (!isFresh(reading, now)) return { kind: "read", reason: "It was read too long ago." };
  if (!reading.isWhole) return { kind: "read", reason: "Its pages changed while they were read." };
  const asked = askedOf(operation, facts, wish, reading, now);
  for (const rule of RULES) {
    const step = rule(asked);
    if (step !== null) return step;
  }
  return lookDue(asked);
}

/** Nothing that was sent can take effect any more, and nothing is wanted: only what it came to. */
function unwished({ attempts }: SubjectFacts): Step {
  const applied = attempts.findLast(isApplied);
  return applied === undefined ? { kind: "idle" } : appliedStep(applied);
}

/** Rule 3: no other send of the subject is before its `leave_by`. */
function waitForLeaving({ attempts }: SubjectFacts, { atMs }: Now): Step | null {
  const until = attempts
    .flatMap(({ sends }) => sends)
    .filter(({ result, leaveByMs }) => result === "pending" && atMs <= leaveByMs)
    .map(({ leaveByMs }) => leaveByMs);
  return until.length === 0 ? null : rest("leaving", Math.max(...until) + 1 - atMs);
}

function isFresh(reading: Reading, { atMs, serviceMs, sandbox }: Now): boolean {
  const ageMs = atMs - reading.begunAtMs;
  if (ageMs < 0 || ageMs >= READING_FRESH_MS) return false;
  if (sandbox || serviceMs === null || reading.begunServiceMs === null) return true;
  return serviceMs - reading.begunServiceMs < READING_FRESH_MS;
}

function askedOf(
  operation: Operation,
  facts: SubjectFacts,
  wish: Wish | null,
  reading: Reading,
  now: Now,
): Asked {
  const sent = facts.attempts.flatMap(({ sends }) => sends);
  const terms = wish === null ? sent : [...sent, wish];
  // What was there before and has changed needs no explanation, nor does what can't be its effect.
  const foreign = reading.shown.filter(
    (shown) =>
      operation.effect === "changed" || !terms.some((each) => operation.concerns(each, shown)),
  );
  const known = {
    ...facts,
    looks: [...facts.looks, reading],
    othersIds: [...facts.othersIds, ...foreign.map(({ id }) => id)],
  };
  const accounted = accountedIds(known);
  const unexplained = reading.shown.filter(({ id }) => !accounted.has(id));
  return { operation, facts: known, wish, reading, now, unexplained };
}

/**
 * Rule 9: while a send is open, what is new and exactly its terms is its effect. Before anything
 * else, since whatever is known to be applied need not be asked again.
 */
function adoptEffect({ operation, facts, reading, now, unexplained }: Asked): Step | null {
  const found = operation.effect === "new" ? unexplained : reading.shown;
  const unsettled = new Set(unsettledSends(facts, now));
  const open = facts.attempts
    .filter((attempt) => !isApplied(attempt))
    .flatMap((attempt) => openSends({ attempts: [attempt] }).map((send) => ({ attempt, send })))
    .toReversed();
  const likelyFirst = [
    ...open.filter(({ send }) => unsettled.has(send)),
    ...open.filter(({ send }) => !unsettled.has(send)),
  ];
  for (const { attempt, send } of likelyFirst) {
    const verdict = operation.judgeFound(send, found);
    if (verdict.kind === "all") return { kind: "adopt", seq: attempt.seq, ids: verdict.ids };
  }
  return null;
}

/** Rule 8: what has been applied stands, until what it made is known to be unpaid. */
function stayApplied(asked: Asked): Step | null {
  const { facts, wish, reading } = asked;
  const standing = facts.attempts.findLast(
    (attempt) => isApplied(attempt) && !isSpent(asked, attempt),
  );
  if (standing === undefined) return null;
  if (wish === null) {
    // What was sent beside it may still take effect.
    return unsettledSends(facts, asked.now).length === 0 ? appliedStep(standing) : null;
  }
  const ids = madeIdsOf(standing);
  const isShown = ids.every((id) => reading.shownIds.includes(id));
  const isOther = !isShown && standing.sends.at(-1)?.approvedHash !== wish.approvedHash;
  return isOther ? rest("not-shown", REST_NOT_SHOWN_MS) : appliedStep(standing);
}

/** True where all that an attempt made is shown, and unpaid or paid for another line. */
function isSpent(asked: Asked, attempt: KeyedAttempt): boolean {
  const { operation, reading } = asked;
  const ids = madeIdsOf(attempt);
  const made = reading.shown.filter(({ id }) => ids.includes(id));
  // An answer without ids is none; so is a list that lacks one of them.
  if (ids.length === 0 || ids.some((id) => !made.some((shown) => shown.id === id))) return false;
  if (isOfAnotherLine(asked, attempt, made)) return true;
  const answeredMs = Math.max(
    ...attempt.sends.flatMap(({ answeredAtMs }) => answeredAtMs ?? []),
    Number.NEGATIVE_INFINITY,
  );
  const isSettled = reading.begunAtMs >= answeredMs + operation.showsWithinMs;
  return isSettled && made.every((shown) => operation.isUnpaid(shown));
}

/** True where the wish is for the rest of a bill, of which this attempt paid a part. */
function isOfAnotherLine(
  { operation, wish }: Asked,
  { sends }: KeyedAttempt,
  made: readonly Shown[],
): boolean {
  if (wish === null) return false;
  const last = sends.at(-1);
  // What a restored store adopted was sent by nobody that is known: it goes by its terms.
  if (last === undefined) return operation.judgeFound(wish, made).kind !== "all";
  return last.approvedHash !== wish.approvedHash;
}

/** Rule 9: less or more than was asked for waits until nothing can be added, then for a person. */
function explainFirst(asked: Asked): Step | null {
  const { facts, reading, now, unexplained } = asked;
  const open = openSends(facts);
  if (unexplained.length === 0 || open.length === 0) return null;
  if (!open.every((send) => covers(reading, send, now))) return lookDue(asked);
  return unaccounted(unexplained);
}

/** Rule 6: without a wish, looks go on until what had no answer has had its last word. */
function settleUnwished(asked: Asked): Step | null {
  if (asked.wish !== null) return null;
  if (unsettledSends(asked.facts, asked.now).length > 0) return lookDue(asked);
  return unwished(asked.facts);
}

/** Rule 6: in a sandbox only the wire clock tells what has passed. */
function hearClock({ now }: Asked): Step | null {
  return now.sandbox && now.serviceMs === null ? rest("clock", REST_CLOCK_MS) : null;
}

/**
 * Rule 10: a restored store first waits for, and then explains, what it may have forgotten. What
 * was let through just before the loss needs as long as any other send to show.
 */
function waitAfterLoss({ operation, facts, wish, now, unexplained }: Asked): Step | null {
  const { restored, attempts, looks } = facts;
  if (restored === null || wish === null) return null;
  const leftMs = (at: { readonly atMs: number; readonly serviceMs: number | null }): number => {
    const byService = now.sandbox && restored.serviceMs !== null && at.serviceMs !== null;
    const sinceMs = byService
      ? (at.serviceMs ?? 0) - (restored.serviceMs ?? 0)
      : at.atMs - restored.atMs;
    return LEAVE_WITHIN_MS + conclusiveAfterMs(now) - sinceMs;
  };
  const isLateEnough = ({ isWhole, begunAtMs, begunServiceMs }: Look): boolean =>
    isWhole && leftMs({ atMs: begunAtMs, serviceMs: begunServiceMs }) <= 0;
  if (!looks.some(isLateEnough)) {
    if (leftMs(now) > 0) return rest("restored", leftMs(now));
    return { kind: "read", reason: "It was read too soon after the store had been restored." };
  }
  const sends = attempts.flatMap((attempt) => attempt.sends);
  const isOlder = sends.every(({ openedAtMs }) => openedAtMs <= restored.atMs);
  const standing = unexplained.filter(
    (shown) => !operation.isUnpaid(shown) && mayBeForgotten(shown, restored, now),
  );
  if (operation.afterLoss === "go-on" || !isOlder || standing.length === 0) return null;
  const verdict = operation.judgeFound(wish, standing);
  if (operation.afterLoss === "adopt" && verdict.kind === "all") {
    return { kind: "adopt", seq: (attempts.at(-1)?.seq ?? 0) + 1, ids: verdict.ids };
  }
  return unaccounted(standing);
}

function beginFirstKey(asked: Asked): Step | null {
  return asked.facts.attempts.length === 0 ? sendUnder(asked, 1, true) : null;
}

/** Rule 8: nothing follows a send of another key that may still take effect. */
function settleOtherKeys(asked: Asked): Step | null {
  const earlier = asked.facts.attempts.slice(0, -1).flatMap(({ sends }) => sends);
  const unsettled = new Set(unsettledSends(asked.facts, asked.now));
  return earlier.some((send) => unsettled.has(send)) ? lookDue(asked) : null;
}

/**
 * Rule 8: the next key, once this one is used up and every send of the subject is closed, or a
 * conclusive look came after it. An attempt that comes here applied is spent (`stayApplied`).
 */
function takeNextKey(asked: Asked): Step | null {
  const { facts, now } = asked;
  const last = facts.attempts.at(-1);
  if (last === undefined) return null;
  if (!isApplied(last) && !isUsedUp(facts, last, now)) return null;
  if (unsettledSends(facts, now).length > 0) return lookDue(asked);
  const deadKeys = deadKeysLately(facts, now);
  if (deadKeys > DEAD_KEYS_MAX) {
    const reason = `The service refused it under ${deadKeys} keys in a row, all within a day.`;
    return { kind: "person", code: "refused", reason };
  }
  return sendUnder(asked, last.seq + 1, true);
}

/** Rule 4: the same bytes may go again, while the key is certainly remembered or a look came. */
function sendSameBytes(asked: Asked): Step | null {
  const { facts, wish, now } = asked;
  const last = facts.attempts.at(-1);
  const previous = last?.sends.at(-1);
  if (last === undefined || wish === null || previous === undefined) return null;
  if (previous.path !== wish.path || previous.body !== wish.body) return null;
  const lookMs = lastConclusiveMs(facts, now);
  const since = last.sends.filter(
    (send) =>
      (lookMs === null || send.openedAtMs > lookMs) &&
      resultsOf(last, send).some((result) => result !== "not-sent"),
  );
  const isConflict = (send: Send) => resultsOf(last, send).includes("conflict");
  const isRemembered = since.every((send) => ageMs(send, now) < SAME_KEY_MS);
  if (since.some(isConflict) || !isRemembered) return lookDue(asked);
  return sendUnder(asked, last.seq, false);
}

/** How long ago a send was let through, by whichever clock that counts says longer. */
function ageMs({ openedAtMs, openedServiceMs }: Send, { atMs, serviceMs, sandbox }: Now): number {
  const byDatabaseMs = atMs - openedAtMs;
  if (openedServiceMs === null || serviceMs === null) return byDatabaseMs;
  const byServiceMs = serviceMs - openedServiceMs;
  return sandbox ? byServiceMs : Math.max(byServiceMs, byDatabaseMs);
}

/** Rule 7: other bytes under the same key only where the service certainly holds none. */
function sendOtherBytes(asked: Asked): Step | null {
  const { facts, now } = asked;
  const last = facts.attempts.at(-1);
  if (last === undefined) return null;
  const unsettled = new Set(unsettledSends(facts, now));
  const open = new Set(openSends(facts));
  const isNowhere = (send: Send) =>
    open.has(send) ? !unsettled.has(send) : ["not-sent", "refused"].includes(send.result);
  return last.sends.every(isNowhere) ? sendUnder(asked, last.seq, false) : lookDue(asked);
}

function sendUnder(asked: Asked, seq: number, isNewKey: boolean): Step | null {
  if (asked.wish === null) return null;
  const { operation: _, ...terms } = asked.wish;
  return { kind: "send", seq, terms, baseline: baselineOf(asked), isNewKey };
}

/** Rule 9: read before the key's first send, and not anew while a send is open. */
function baselineOf({ facts, reading }: Asked): readonly string[] {
  if (openSends(facts).length === 0) return reading.shownIds;
  const previous = facts.attempts.flatMap(({ sends }) => sends).at(-1);
  return previous?.baseline ?? reading.shownIds;
}

/** Rule 6: rests until a look can be the last word on all that is open, then asks for it. */
function lookDue({ facts, now }: Asked): Step {
  if (now.sandbox && now.serviceMs === null) return rest("clock", REST_CLOCK_MS);
  const leftMs = openSends(facts).map((send) => untilCoveredMs(send, now, now));
  if (leftMs.includes(null)) return rest("clock", REST_CLOCK_MS);
  const mostMs = Math.max(...leftMs.map((ms) => ms ?? 0), 0);
  if (mostMs > 0) return rest("look-due", mostMs);
  return { kind: "read", reason: "A look that begins now is the last word on what was sent." };
}

function appliedStep(attempt: KeyedAttempt): Step {
  const found = !wasAnsweredApplied(attempt);
  const approvedHash = attempt.sends.at(-1)?.approvedHash ?? null;
  return { kind: "applied", seq: attempt.seq, ids: madeIdsOf(attempt), found, approvedHash };
}

function unaccounted(shown: readonly Shown[]): Step {
  const ids = shown.map(({ id }) => id).join(", ");
  const reason = `The service shows ${ids}, and nothing that was sent explains it.`;
  return { kind: "person", code: "unaccounted", reason };
}

function rest(reason: RestReason, restMs: number): Step {
  return { kind: "rest", reason, restMs: Math.max(restMs, REST_MIN_MS) };
}
