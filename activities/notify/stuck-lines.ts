import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { lineStuck } from "../../src/domain/notices/late-texts.ts";
import { UNANSWERED_NOTICE_AFTER_MS } from "../../src/domain/payments/late.ts";
import type { RunLine } from "../../src/store/lines/lines.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import type { Tables } from "../../src/store/schema/tables.ts";

/** Notifies operators, once, of a line that has made no progress in an hour of tries. */
export async function notifyOfStuck(
  trx: Transaction<Tables>,
  line: Pick<RunLine, "businessId" | "runId" | "payableId" | "amountCents" | "backOffSinceMs">,
  backOff: { readonly kind: "unknown" | "back"; readonly reason: string },
  clock: ClockReading,
): Promise<void> {
  const { businessId, payableId, backOffSinceMs, runId } = line;
  if (backOffSinceMs === null || clock.serviceMs - backOffSinceMs < UNANSWERED_NOTICE_AFTER_MS)
    return;
  await raiseNotice(trx, {
    businessId,
    kind: "payment-late",
    factKey: `${runId}/${payableId}/stuck/${backOffSinceMs}`,
    ...lineStuck(line, backOff),
    roles: ["operator"],
    data: { count: 1, payableIds: [payableId] },
    runId,
    nowMs: clock.realMs,
  });
}
