import {
  accountedIds,
  conclusiveAfterMs,
  covers,
  isApplied,
  LEAVE_WITHIN_MS,
  madeIdsOf,
  mayBeForgotten,
  openSends,
  unsettledSends,
  wasAnsweredApplied,
} from "./derive.ts";
import type {
  KeyedAttempt,
  LineKey,
  Lookup,
  Now,
  Reading,
  Restored,
  ShownThing,
  Step,
  SubjectFacts,
} from "./facts.ts";
import { pay } from "./operations.ts";
import { type Asked, lookupDue, wait } from "./steps.ts";

const WAIT_NOT_SHOWN_MS = 60_000;

/**
 * Rule 9: while a send is open, something new with exactly its terms is its effect. This rule comes
 * first: an attempt that is known to be applied needs no other judgment.
 */
export function adoptEffect({ operation, facts, reading, now, unexplained }: Asked): Step | null {
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

/** Rule 8: an applied attempt stands until its payments are known to be unpaid. */
export function stayApplied(asked: Asked): Step | null {
  const { facts, wish, reading } = asked;
  const standing = facts.attempts.findLast(
    (attempt) => isApplied(attempt) && !isSpent(asked, attempt),
  );
  if (standing === undefined) return null;
  if (wish === null) {
    // Another send of the subject may still take effect.
    return unsettledSends(facts, asked.now).length === 0 ? appliedStep(standing) : null;
  }
  const ids = madeIdsOf(standing);
  const isShown = ids.every((id) => reading.shownIds.includes(id));
  const last = standing.sends.at(-1);
  const isOther = !isShown && (last === undefined || !isSameLine(last, wish));
  return isOther ? wait("not-shown", WAIT_NOT_SHOWN_MS) : appliedStep(standing);
}

/**
 * True if the reading shows all that an attempt made, and each is unpaid or paid for another line.
 */
function isSpent(asked: Asked, attempt: KeyedAttempt): boolean {
  const { operation, reading } = asked;
  const ids = madeIdsOf(attempt);
  const made = reading.shown.filter(({ id }) => ids.includes(id));
  // Not spent if the response named no ids, or if the list lacks one of them.
  if (ids.length === 0 || ids.some((id) => !made.some((shown) => shown.id === id))) return false;
  if (isOfAnotherLine(asked, attempt, made)) return true;
  const answeredMs = Math.max(
    ...attempt.sends.flatMap(({ answeredAtMs }) => answeredAtMs ?? []),
    Number.NEGATIVE_INFINITY,
  );
  const isSettled = reading.begunAtMs >= answeredMs + operation.showsWithinMs;
  return isSettled && made.every((shown) => operation.isUnpaid(shown));
}

/**
 * True if both are the same line. Two runs may pay a bill in equal parts: such lines differ only by
 * their run.
 */
export function isSameLine(one: LineKey, other: LineKey): boolean {
  return one.runId === other.runId && one.approvedHash === other.approvedHash;
}

/** True if the wish is for another part of a bill than this attempt paid. */
function isOfAnotherLine(
  { operation, wish }: Asked,
  { sends }: KeyedAttempt,
  made: readonly ShownThing[],
): boolean {
  if (wish === null) return false;
  const last = sends.at(-1);
  // An attempt that a restored store adopted has no sends: its terms decide.
  if (last === undefined) return operation.judgeFound(wish, made).kind !== "all";
  return !isSameLine(last, wish);
}

/**
 * Rule 9: if less or more than requested is shown, waits until no more can appear, then asks a
 * person. Anything that appears after a conclusive lookup was made by someone else.
 */
export function explainFirst(asked: Asked): Step | null {
  const { facts, reading, now, unexplained } = asked;
  const unsettled = unsettledSends(facts, now);
  if (unexplained.length === 0 || unsettled.length === 0) return null;
  if (!unsettled.every((send) => covers(reading, send, now))) return lookupDue(asked);
  return unaccounted(unexplained);
}

/**
 * Returns for how many more milliseconds, from `at`, a restored store sends nothing; 0 or less if
 * it may send again.
 */
export function afterLossLeftMs(
  restored: Restored,
  at: { readonly atMs: number; readonly serviceMs: number | null },
  clocks: Pick<Now, "sandbox">,
): number {
  const byService = clocks.sandbox && restored.serviceMs !== null && at.serviceMs !== null;
  const sinceMs = byService
    ? (at.serviceMs ?? 0) - (restored.serviceMs ?? 0)
    : at.atMs - restored.atMs;
  return LEAVE_WITHIN_MS + conclusiveAfterMs(clocks) - sinceMs;
}

/**
 * Rule 10: a restored store waits until everything that it may have forgotten would show, then
 * explains it. A send let through just before the loss needs as long as any other.
 */
export function waitAfterLoss({ operation, facts, wish, now, unexplained }: Asked): Step | null {
  const { restored, attempts, lookups } = facts;
  if (restored === null || wish === null) return null;
  const isLateEnough = ({ isWhole, begunAtMs: atMs, begunServiceMs: serviceMs }: Lookup): boolean =>
    isWhole && afterLossLeftMs(restored, { atMs, serviceMs }, now) <= 0;
  if (!lookups.some(isLateEnough)) {
    const leftMs = afterLossLeftMs(restored, now, now);
    if (leftMs > 0) return wait("restored", leftMs);
    return { kind: "read", reason: "The service was read too soon after the store was restored." };
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

/**
 * Returns the payments that stand unexplained although no send can take effect anymore: they came
 * later than the ledger's windows allow, or someone else made them.
 */
export function shownAfterAll(facts: SubjectFacts, { shown }: Reading): readonly ShownThing[] {
  const accounted = accountedIds(facts);
  return shown.filter((each) => !accounted.has(each.id) && !pay.isUnpaid(each));
}

export function appliedStep(attempt: KeyedAttempt): Step {
  const found = !wasAnsweredApplied(attempt);
  const last = attempt.sends.at(-1);
  const line = last === undefined ? null : { runId: last.runId, approvedHash: last.approvedHash };
  return { kind: "applied", seq: attempt.seq, ids: madeIdsOf(attempt), found, line };
}

function unaccounted(shown: readonly ShownThing[]): Step {
  return { kind: "person", code: "unaccounted", reason: unexplainedText(shown) };
}

export function unexplainedText(shown: readonly ShownThing[]): string {
  const ids = shown.map(({ id }) => id).join(", ");
  return `The service shows ${ids}, which no request of Payrun explains.`;
}
