import type { Attempt } from "../../src/contracts/attempt.ts";
import { decideAnswer, type Decision } from "../../src/domain/attempts/answers.ts";
import { earlierRejection, isAnswered } from "../../src/domain/attempts/sends.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { MoneyWriteAnswer } from "../../src/payments-api/index.ts";
import { HTTP_TIMEOUT_MS, type ActivityContext } from "../context.ts";
import { conclusiveFromMs } from "./look-up.ts";

export interface FrozenSend {
  /** The attempt before this send was written. */
  readonly before: Attempt;
  readonly attempt: Attempt;
  /** Read before the send was written. */
  readonly clock: ClockReading;
  /** Real instant from which the request must not leave any more, and what to say then. */
  readonly leaveByMs: number;
  readonly tooLate: string;
}

/**
 * Sends a frozen request once, byte for byte under its key, and says what its answer means by the
 * table of the design. Nothing is recorded: what follows is the caller's.
 */
export async function sendFrozen(
  context: ActivityContext,
  business: string,
  { before, attempt, clock, leaveByMs, tooLate }: FrozenSend,
): Promise<{ readonly decision: Decision; readonly answer: MoneyWriteAnswer }> {
  const answer = await context.clientOf(business).sendMoneyWrite({
    method: "POST",
    path: attempt.path,
    bodyText: attempt.body === "" ? undefined : attempt.body,
    idempotencyKey: attempt.idempotencyKey,
    timeoutMs: HTTP_TIMEOUT_MS,
    beforeSend: () => {
      // A process that froze meanwhile must not send: somebody else may be at it by now.
      if (Date.now() >= leaveByMs) throw new Error(tooLate);
    },
  });
  const decision = decideAnswer({
    answer,
    operation: attempt.operation === "retry-payment" ? "retry" : attempt.operation,
    earlierRejection: earlierRejection(before),
    earlierAnswered: before.sends.length > 0 && isAnswered(before),
    sentPastWindow:
      before.lastSentAtMs !== null && clock.serviceMs >= conclusiveFromMs(before, clock),
  });
  return { decision, answer };
}
