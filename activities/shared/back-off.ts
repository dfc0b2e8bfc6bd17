import { doublingMs } from "../../src/domain/back-off.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";

/** Not known, or not possible yet: looked at again after so long on the service's clock. */
export interface BackOff {
  readonly kind: "back-off";
  readonly waitMs: number;
  readonly reason: string | null;
}

export function backOff(waitMs: number, reason: string | null): BackOff {
  return { kind: "back-off", waitMs, reason };
}

const AFTER_SEND = { firstMs: 1_000, mostMs: 30_000 };

/** A rest after a send that came to nothing clear: it doubles with each. */
export function backOffAfter(
  { sendNo }: OpenedSend,
  reason: string,
  { firstMs, mostMs } = AFTER_SEND,
): BackOff {
  return backOff(doublingMs(firstMs, mostMs, sendNo - 1), reason);
}
