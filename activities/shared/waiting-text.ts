import type { ClockReading } from "../../src/business/clock.ts";
import { spokenTime } from "../../src/domain/clock/spoken.ts";
import type { WaitReason } from "../../src/ledger/facts.ts";
import { waitReasonText } from "../../src/ledger/steps.ts";

/** What the ledger has a subject wait for, and until when, as its business's clock shows that. */
export function waitingText(
  { reason, waitMs }: { readonly reason: WaitReason; readonly waitMs: number },
  { businessMs, scale, zone }: ClockReading,
): string {
  return waitReasonText(reason, spokenTime(businessMs + waitMs * scale, zone));
}
