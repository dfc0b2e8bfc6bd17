import type { Attempt, AttemptSend, SendResult } from "../../src/contracts/attempt.ts";
import { changeLiveAttempt, type AttemptChange } from "../../src/store/attempts.ts";
import type { ActivityContext } from "../context.ts";

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

/** The attempt with what its last send came to. */
export function withResult(attempt: Attempt, result: Omit<AttemptSend, "atMs" | "by">): Attempt {
  const last = attempt.sends.at(-1);
  if (last === undefined) throw new Error("an attempt without a send has no result to record");
  return { ...attempt, sends: [...attempt.sends.slice(0, -1), { ...last, ...result }] };
}

/** Writes what the attempt's last send came to. */
export async function recordSend(
  context: ActivityContext,
  attempt: Attempt,
  result: Omit<AttemptSend, "atMs" | "by">,
  change: AttemptChange = {},
): Promise<Attempt> {
  const { sends } = withResult(attempt, result);
  await changeLiveAttempt(context.store.db, attempt.attemptId, { ...change, sends }, Date.now());
  return { ...attempt, ...change, sends };
}

/** Ends an attempt for good; nothing is sent under its key again. */
export async function endAttempt(
  context: ActivityContext,
  attempt: Attempt,
  state: "dead" | "released",
  change: AttemptChange = {},
): Promise<void> {
  await changeLiveAttempt(context.store.db, attempt.attemptId, { ...change, state }, Date.now());
}
