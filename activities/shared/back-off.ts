import { doublingMs } from "../../src/domain/back-off.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";

/**
 * The result is unknown, or nothing is possible yet: try again after this time on the service's
 * clock.
 */
export interface BackOff {
  readonly kind: "back-off";
  readonly waitMs: number;
  readonly reason: string | null;
}

export function backOff(waitMs: number, reason: string | null): BackOff {
  return { kind: "back-off", waitMs, reason };
}

const AFTER_SEND = { firstMs: 1_000, mostMs: 30_000 };

/** Returns a back-off after a send without a clear response; it doubles with each send. */
export function backOffAfter(
  { sendNo }: OpenedSend,
  reason: string,
  { firstMs, mostMs } = AFTER_SEND,
): BackOff {
  return backOff(doublingMs(firstMs, mostMs, sendNo - 1), reason);
}
