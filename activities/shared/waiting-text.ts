import type { ClockReading } from "../../src/business/clock.ts";
import { spokenTime } from "../../src/domain/clock/spoken.ts";
import type { WaitReason } from "../../src/ledger/facts.ts";
import { waitReasonText } from "../../src/ledger/steps.ts";

/** Says what the ledger makes a subject wait for, and until when, by its business's clock. */
export function waitingText(
  { reason, waitMs }: { readonly reason: WaitReason; readonly waitMs: number },
  clock: ClockReading,
): string {
  return waitReasonText(reason, spokenTime(clock.afterRealMs(waitMs), clock.zone));
}
