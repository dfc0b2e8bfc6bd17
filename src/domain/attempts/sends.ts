import type { Attempt, SendResult } from "../../contracts/attempt.ts";

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
