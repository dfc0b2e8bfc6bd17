import {
  deadKeysLately,
  isApplied,
  isUsedUp,
  lastConclusiveMs,
  openSends,
  resultsOf,
  unsettledSends,
} from "./derive.ts";
import type { Now, Send, Step } from "./facts.ts";
import { type Asked, lookupDue } from "./steps.ts";

/** Rule 4: well within the 15 minutes for which the service remembers a key. */
const SAME_KEY_MS = 10 * 60_000;

/** This many keys in a row may fail within a day before a person must look. */
const DEAD_KEYS_MAX = 6;

export function beginFirstKey(asked: Asked): Step | null {
  return asked.facts.attempts.length === 0 ? sendUnder(asked, 1, true) : null;
}

/** Rule 8: nothing is sent while a send under another key may still take effect. */
export function settleOtherKeys(asked: Asked): Step | null {
  const earlier = asked.facts.attempts.slice(0, -1).flatMap(({ sends }) => sends);
  const unsettled = new Set(unsettledSends(asked.facts, asked.now));
  return earlier.some((send) => unsettled.has(send)) ? lookupDue(asked) : null;
}

/**
 * Rule 8: takes the next key once this one is used up and every send of the subject is closed or
 * followed by a conclusive lookup. An applied attempt that reaches this rule is spent
 * (`stayApplied`).
 */
export function takeNextKey(asked: Asked): Step | null {
  const { facts, now } = asked;
  const last = facts.attempts.at(-1);
  if (last === undefined) return null;
  if (!isApplied(last) && !isUsedUp(facts, last, now)) return null;
  if (unsettledSends(facts, now).length > 0) return lookupDue(asked);
  const deadKeys = deadKeysLately(facts, now);
  if (deadKeys > DEAD_KEYS_MAX) {
    const reason = `The service refused it under ${deadKeys} keys in a row, all within a day.`;
    return { kind: "person", code: "refused", reason };
  }
  return sendUnder(asked, last.seq + 1, true);
}

/**
 * Rule 4: the same bytes may be sent again while the service certainly remembers the key, or after
 * a conclusive lookup.
 */
export function sendSameBytes(asked: Asked): Step | null {
  const { facts, wish, now } = asked;
  const last = facts.attempts.at(-1);
  const previous = last?.sends.at(-1);
  if (last === undefined || wish === null || previous === undefined) return null;
  if (previous.path !== wish.path || previous.body !== wish.body) return null;
  const lookupMs = lastConclusiveMs(facts, now);
  const since = last.sends.filter(
    (send) =>
      (lookupMs === null || send.openedAtMs > lookupMs) &&
      resultsOf(last, send).some((result) => result !== "not-sent"),
  );
  const isConflict = (send: Send) => resultsOf(last, send).includes("conflict");
  const isRemembered = since.every((send) => ageMs(send, now) < SAME_KEY_MS);
  if (since.some(isConflict) || !isRemembered) return lookupDue(asked);
  return sendUnder(asked, last.seq, false);
}

/**
 * Returns how long ago the gate let a send through, in milliseconds: the longest time that any
 * clock that counts shows.
 */
function ageMs({ openedAtMs, openedServiceMs }: Send, { atMs, serviceMs, sandbox }: Now): number {
  const byDatabaseMs = atMs - openedAtMs;
  if (openedServiceMs === null || serviceMs === null) return byDatabaseMs;
  const byServiceMs = serviceMs - openedServiceMs;
  return sandbox ? byServiceMs : Math.max(byServiceMs, byDatabaseMs);
}

/** Rule 7: other bytes may use the same key only if the service certainly has none under it. */
export function sendOtherBytes(asked: Asked): Step | null {
  const { facts, now } = asked;
  const last = facts.attempts.at(-1);
  if (last === undefined) return null;
  const unsettled = new Set(unsettledSends(facts, now));
  const open = new Set(openSends(facts));
  const isNowhere = (send: Send) =>
    open.has(send) ? !unsettled.has(send) : ["not-sent", "refused"].includes(send.result);
  return last.sends.every(isNowhere) ? sendUnder(asked, last.seq, false) : lookupDue(asked);
}

function sendUnder(asked: Asked, seq: number, isNewKey: boolean): Step | null {
  if (asked.wish === null) return null;
  const { operation: _, ...terms } = asked.wish;
  return { kind: "send", seq, terms, baseline: baselineOf(asked), isNewKey };
}

/**
 * Rule 9: the baseline is read before the key's first send, and kept while an earlier send is
 * unsettled.
 */
function baselineOf({ facts, reading, now }: Asked): readonly string[] {
  if (unsettledSends(facts, now).length === 0) return reading.shownIds;
  const previous = facts.attempts.flatMap(({ sends }) => sends).at(-1);
  return previous?.baseline ?? reading.shownIds;
}
