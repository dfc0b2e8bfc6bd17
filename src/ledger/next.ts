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
import { type Asked, lookupDue, wait, waitForClock, type Rule } from "./steps.ts";

/** Rule 3: the gate judges only readings that are younger than this. */
export const READING_FRESH_MS = 2 * 60_000;

/** Pause until a payment that can't be read is looked at again. */
const UNREADABLE_MS = 60_000;

/** The rules in order; the first rule that returns a step decides. */
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
 * Decides what to do about a subject next. It is pure and total: the same rows give the same step
 * after any crash, in any process. Rules are numbered as in decision record 0020.
 *
 * @param wish the wanted request; null if the gate is closed or nothing is wanted
 * @param reading what the service showed; null if the subject has not been read yet
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
  if (reading === null) return { kind: "read", reason: "The service has not been read yet." };
  if (!isFresh(reading, now)) return { kind: "read", reason: "The service was read too long ago." };
  if (!reading.isWhole) return wait("unreadable", UNREADABLE_MS);
  const asked = askedOf(operation, facts, wish, reading, now);
  for (const rule of RULES) {
    const step = rule(asked);
    if (step !== null) return step;
  }
  return lookupDue(asked);
}

/** Reports only the outcome: nothing is wanted, and no send can take effect anymore. */
function unwished({ attempts }: SubjectFacts): Step {
  const applied = attempts.findLast(isApplied);
  return applied === undefined ? { kind: "idle" } : appliedStep(applied);
}

/** Rule 3: waits while another send of the subject may still leave. */
function waitForLeaving({ attempts }: SubjectFacts, { atMs }: Now): Step | null {
  const until = attempts
    .flatMap(({ sends }) => sends)
    .filter(({ result, leaveByMs }) => result === "pending" && atMs <= leaveByMs)
    .map(({ leaveByMs }) => leaveByMs);
  return until.length === 0 ? null : wait("leaving", Math.max(...until) + 1 - atMs);
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
  // These need no explanation: an existing thing that changed, and anything that can't be an effect
  // of ours.
  const foreign = reading.shown.filter(
    (shown) =>
      operation.effect === "changed" || !terms.some((each) => operation.concerns(each, shown)),
  );
  const known = {
    ...facts,
    lookups: [...facts.lookups, reading],
    othersIds: [...facts.othersIds, ...foreign.map(({ id }) => id)],
  };
  const accounted = accountedIds(known);
  const unexplained = reading.shown.filter(({ id }) => !accounted.has(id));
  return { operation, facts: known, wish, reading, now, unexplained };
}

/** Rule 6: without a wish, lookups go on until a conclusive one has settled every open send. */
function settleUnwished(asked: Asked): Step | null {
  if (asked.wish !== null) return null;
  if (unsettledSends(asked.facts, asked.now).length > 0) return lookupDue(asked);
  return unwished(asked.facts);
}

/** Rule 6: in a sandbox only the wire clock measures the service's windows. */
function hearClock({ now }: Asked): Step | null {
  return now.sandbox && now.serviceMs === null ? waitForClock() : null;
}
