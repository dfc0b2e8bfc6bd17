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
import type { KeyedAttempt, LineKey, Look, Reading, Shown, Step, SubjectFacts } from "./facts.ts";
import { pay } from "./operations.ts";
import { type Asked, lookDue, rest } from "./steps.ts";

const REST_NOT_SHOWN_MS = 60_000;

/**
 * Rule 9: while a send is open, what is new and exactly its terms is its effect. Before anything
 * else, since whatever is known to be applied need not be asked again.
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

/** Rule 8: what has been applied stands, until what it made is known to be unpaid. */
export function stayApplied(asked: Asked): Step | null {
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
  const last = standing.sends.at(-1);
  const isOther = !isShown && (last === undefined || !isSameLine(last, wish));
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

/** Two runs may pay a bill in equal parts: their lines differ by their run alone. */
export function isSameLine(one: LineKey, other: LineKey): boolean {
  return one.runId === other.runId && one.approvedHash === other.approvedHash;
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
  return !isSameLine(last, wish);
}

/**
 * Rule 9: less or more than was asked for waits until nothing can be added, then for a person. What
 * shows only after the last word on all that was sent is somebody else's.
 */
export function explainFirst(asked: Asked): Step | null {
  const { facts, reading, now, unexplained } = asked;
  const unsettled = unsettledSends(facts, now);
  if (unexplained.length === 0 || unsettled.length === 0) return null;
  if (!unsettled.every((send) => covers(reading, send, now))) return lookDue(asked);
  return unaccounted(unexplained);
}

/**
 * Rule 10: a restored store first waits for, and then explains, what it may have forgotten. What
 * was let through just before the loss needs as long as any other send to show.
 */
export function waitAfterLoss({ operation, facts, wish, now, unexplained }: Asked): Step | null {
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

/**
 * What stands though nothing explains it, and nothing that was sent can take effect any more: made
 * after its time, outside of what the ledger can be safe against, or by somebody else.
 */
export function shownAfterAll(facts: SubjectFacts, { shown }: Reading): readonly Shown[] {
  const accounted = accountedIds(facts);
  return shown.filter((each) => !accounted.has(each.id) && !pay.isUnpaid(each));
}

export function appliedStep(attempt: KeyedAttempt): Step {
  const found = !wasAnsweredApplied(attempt);
  const last = attempt.sends.at(-1);
  const line = last === undefined ? null : { runId: last.runId, approvedHash: last.approvedHash };
  return { kind: "applied", seq: attempt.seq, ids: madeIdsOf(attempt), found, line };
}

function unaccounted(shown: readonly Shown[]): Step {
  return { kind: "person", code: "unaccounted", reason: unexplainedText(shown) };
}

export function unexplainedText(shown: readonly Shown[]): string {
  const ids = shown.map(({ id }) => id).join(", ");
  return `The service shows ${ids}, and nothing that was sent explains it.`;
}
