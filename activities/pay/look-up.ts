import { recordLookUp } from "../../src/store/attempt-writes.ts";
import type { Attempt } from "../../src/contracts/attempt.ts";
import { judgeLookUp, type LookUpVerdict } from "../../src/domain/attempts/look-up.ts";
import { conclusiveLookUpFromMs, type LookUpWindow } from "../../src/domain/attempts/seq.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { HTTP_TIMEOUT_MS, type ActivityContext } from "../context.ts";
import type { PayOutcome } from "./job.ts";

/** From when a look-up at an attempt is the last word, by what is recorded of its sends. */
export function conclusiveFromMs(attempt: Attempt, clock: ClockReading): number {
  return conclusiveLookUpFromMs(windowOf(attempt, clock));
}

/** The window in which the attempt's last send may still take effect. */
export function windowOf(attempt: Attempt, clock: ClockReading): LookUpWindow {
  return {
    gaveUpAtMs: Math.max(attempt.gaveUpAtMs ?? 0, attempt.lastSentAtMs ?? clock.serviceMs),
    httpTimeoutMs: HTTP_TIMEOUT_MS,
    ownClock: !clock.sandbox,
  };
}

export interface LookUp {
  readonly verdict: LookUpVerdict;
  readonly adopted: readonly Payment[];
  /** True where the look-up was made long enough after the last send to be the last word. */
  readonly afterWindow: boolean;
  readonly windowEndsMs: number;
}

/**
 * Reads every payment of the attempt's payable and says what became of the attempt; the look-up is
 * recorded, because only a recorded one lets a new key follow.
 */
export async function lookUp(
  context: ActivityContext,
  business: string,
  attempt: Attempt,
): Promise<LookUp> {
  const clock = await context.clockOf(business).now();
  const found = await context.clientOf(business).payments.listAll({ payableId: attempt.subject });
  // A process that has just begun learns the service's time with its first answer: the earlier of
  // both readings can't end the window too soon.
  const after = await context.clockOf(business).now();
  const serviceMs = Math.min(clock.serviceMs, after.serviceMs);
  const windowEndsMs = conclusiveFromMs(attempt, { ...clock, serviceMs });
  const verdict = judgeLookUp({
    knownPaymentIds: attempt.knownPaymentIds,
    amountCents: attempt.amountCents,
    found,
  });
  const afterWindow = serviceMs >= windowEndsMs;
  const ids = new Set(verdict.kind === "none" ? [] : verdict.paymentIds);
  const facts = {
    verdict: verdict.kind,
    isConclusive: afterWindow,
    shown: found.length,
    found: found.filter(({ id }) => ids.has(id)),
  };
  await context.store.transactionOf(attempt.businessId, (trx) =>
    recordLookUp(trx, attempt, facts, { serviceMs, nowMs: clock.realMs }),
  );
  const adopted = verdict.kind === "adopt" ? facts.found : [];
  return { verdict, adopted, afterWindow, windowEndsMs };
}

/** Takes payments that a look-up found as what the attempt made. */
export function adopt(attempt: Attempt, payments: readonly Payment[]): PayOutcome {
  return { kind: "applied", attempt, payments, found: true };
}
