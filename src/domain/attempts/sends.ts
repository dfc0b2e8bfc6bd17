import type { Attempt, AttemptSend, SendResult } from "../../contracts/attempt.ts";

/** Results after which the service certainly holds nothing of the request. */
const CLEAN: readonly SendResult[] = ["refused", "not-sent"];

/** True where no send of the attempt can have been stored or be in flight. */
export function isClean(attempt: Attempt): boolean {
  return attempt.sends.every((send) => CLEAN.includes(send.result));
}

/** True where every send was answered, and none of the answers leaves its effect open. */
export function isAnswered(attempt: Attempt): boolean {
  return attempt.sends.every((send) => send.result === "rejected" || CLEAN.includes(send.result));
}

/** The rejection an earlier send got, for telling a replay from a first refusal. */
export function earlierRejection(
  attempt: Attempt,
): { readonly status: number; readonly code: string } | null {
  const send = attempt.sends.findLast((each) => each.result === "rejected");
  return send?.status === undefined || send.code === undefined
    ? null
    : { status: send.status, code: send.code };
}

/** True where the key will never pay any more: `payment_unconfirmed`, or a rejection it replays. */
export function isKeyDead(attempt: Attempt): boolean {
  const rejections = attempt.sends.filter((send) => send.result === "rejected");
  return (
    attempt.sends.some((send) => send.result === "unconfirmed") ||
    rejections.some((send, index) =>
      rejections
        .slice(0, index)
        .some((earlier) => earlier.status === send.status && earlier.code === send.code),
    )
  );
}

/** A service that answers nothing for weeks is asked thousands of times. */
const KEPT_SENDS = { most: 200, last: 60 } as const;

/** An attempt of which something is, or may have been, on its way. */
export interface BegunAttempt extends Attempt {
  readonly firstSentAtMs: number;
  readonly lastSentAtMs: number;
}

/**
 * The attempt as it is to be written before its next send leaves.
 *
 * @param send.atMs service-clock instant
 * @param send.owner workflow id that sends it
 */
export function beginSend(
  attempt: Attempt,
  send: { readonly atMs: number; readonly by: string; readonly owner: string },
): BegunAttempt {
  const { atMs, by, owner } = send;
  return {
    ...attempt,
    owner,
    sends: [...shortenSends(attempt.sends, KEPT_SENDS), { atMs, by, result: "pending" }],
    firstSentAtMs: attempt.firstSentAtMs ?? atMs,
    lastSentAtMs: atMs,
  };
}

/** How many sends of each kind stay from the beginning: two of a refusal show a replay. */
const FIRST_OF_KIND = 2;

/**
 * Leaves out the middle of a long list of sends: after hours without an answer it says the same
 * thing hundreds of times. Every judgement of this file comes out as on the whole list.
 *
 * @param size.most up to so many nothing is left out
 * @param size.last so many of the last ones stay in any case
 */
export function shortenSends(
  sends: readonly AttemptSend[],
  size: { readonly most: number; readonly last: number },
): readonly AttemptSend[] {
  if (sends.length <= size.most) return sends;
  const kinds = sends.map(({ result, status, code }) =>
    JSON.stringify([result, status ?? null, code ?? null]),
  );
  const seen = new Map<string, number>();
  return sends.filter((_, index) => {
    const kind = kinds[index] ?? "";
    const nth = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, nth);
    const isLast = kinds.lastIndexOf(kind) === index;
    return nth <= FIRST_OF_KIND || isLast || index >= sends.length - size.last;
  });
}
