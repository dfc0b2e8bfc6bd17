import type { Attempt, AttemptSend } from "../../src/contracts/attempt.ts";
import { answerAttempt, endAttempt as endInLedger } from "../../src/store/attempt-writes.ts";
import { liveAttempt, type AttemptChange } from "../../src/store/attempts.ts";
import type { ActivityContext } from "../context.ts";

/** The attempt with what its last send came to. */
export function withResult(attempt: Attempt, result: Omit<AttemptSend, "atMs" | "by">): Attempt {
  const last = attempt.sends.at(-1);
  if (last === undefined) throw new Error("an attempt without a send has no result to record");
  return { ...attempt, sends: [...attempt.sends.slice(0, -1), { ...last, ...result }] };
}

/**
 * Writes what the attempt's last send came to; a send that another worker has made since, because
 * this process was slow or frozen, stays as it is.
 */
export async function recordSend(
  context: ActivityContext,
  attempt: Attempt,
  result: Omit<AttemptSend, "atMs" | "by">,
  change: AttemptChange = {},
): Promise<Attempt> {
  const { businessId, subject, attemptId } = attempt;
  const index = attempt.sends.length - 1;
  const last = withResult(attempt, result).sends[index];
  return context.store.transactionOf(businessId, async (trx) => {
    const stored = await liveAttempt(trx, businessId, subject);
    const known = stored?.attemptId === attemptId ? stored.sends : attempt.sends;
    const own = known[index];
    const isOwn = own?.by === last?.by && own?.atMs === last?.atMs;
    const sends = isOwn && last !== undefined ? known.with(index, last) : known;
    if (last !== undefined) {
      await answerAttempt(trx, attempt, last, { ...change, sends }, Date.now());
    }
    return { ...attempt, ...change, sends };
  });
}

/** Ends an attempt for good; nothing is sent under its key again. */
export async function endAttempt(
  context: ActivityContext,
  attempt: Attempt,
  as: "dead" | "released",
  change: AttemptChange = {},
): Promise<void> {
  await context.store.transactionOf(attempt.businessId, (trx) =>
    endInLedger(trx, attempt, { ...change, as }, Date.now()),
  );
}
