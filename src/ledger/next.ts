import { accountedIds, isApplied, unsettledSends } from "./derive.ts";
import type { Now, Reading, Step, SubjectFacts, Wish } from "./facts.ts";
import {
  beginFirstKey,
  sendOtherBytes,
  sendSameBytes,
  settleOtherKeys,
  takeNextKey,
} from "./which-key.ts";
import type { Operation } from "./operations.ts";
import { adoptEffect, appliedStep, explainFirst, stayApplied, waitAfterLoss } from "./shown.ts";
import { type Asked, lookDue, rest, restForClock, type Rule } from "./steps.ts";

/** Rule 3: what a gate goes by was read so short a time ago. */
const READING_FRESH_MS = 2 * 60_000;

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

/** Rule 6: without a wish, looks go on until what had no answer has had its last word. */
function settleUnwished(asked: Asked): Step | null {
  if (asked.wish !== null) return null;
  if (unsettledSends(asked.facts, asked.now).length > 0) return lookDue(asked);
  return unwished(asked.facts);
}

/** Rule 6: in a sandbox only the wire clock tells what has passed. */
function hearClock({ now }: Asked): Step | null {
  return now.sandbox && now.serviceMs === null ? restForClock() : null;
}
