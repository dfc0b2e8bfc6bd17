import { doublingMs } from "../../src/domain/back-off.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";

/** Not known, or not possible yet: looked at again after so long on the service's clock. */
export interface Rest {
  readonly kind: "rest";
  readonly restMs: number;
  readonly reason: string | null;
}

export function rest(restMs: number, reason: string | null): Rest {
  return { kind: "rest", restMs, reason };
}

const AFTER_SEND = { firstMs: 1_000, mostMs: 30_000 };

/** A rest after a send that came to nothing clear: it doubles with each. */
export function restAfter(
  { sendNo }: OpenedSend,
  reason: string,
  { firstMs, mostMs } = AFTER_SEND,
): Rest {
  return rest(doublingMs(firstMs, mostMs, sendNo - 1), reason);
}
