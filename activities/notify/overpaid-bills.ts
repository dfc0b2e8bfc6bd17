import { billOverpaid } from "../../src/domain/facts/payments.ts";
import { record } from "../../src/store/facts/record.ts";
import { PAYRUN } from "../../src/contracts/authors.ts";
import { paidTooMuch } from "../../src/domain/notices/open-texts.ts";
import type { BillFacts } from "../../src/domain/planning/book.ts";
import { createHold } from "../../src/store/holds/holds.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { ActivityContext } from "../shared/context.ts";

/**
 * Notifies operators of bills on which the service shows more as paid than they come to, and puts
 * them on hold: once for each amount, so that a hold which a person releases is not set again.
 */
export async function notifyOfOverpaid(
  context: ActivityContext,
  { runId, businessId }: Pick<Run, "runId" | "businessId">,
  bills: readonly BillFacts[],
): Promise<void> {
  const overpaid = bills.filter(
    ({ unreadable, amountPaidCents, totalCents }) =>
      unreadable === undefined && amountPaidCents > totalCents,
  );
  if (overpaid.length === 0) return;
  const nowMs = Date.now();
  await context.store.transactionOf(businessId, async (trx) => {
    for (const { payableId, amountPaidCents, totalCents } of overpaid) {
      const { reason } = paidTooMuch(payableId, { amountPaidCents, totalCents });
      const found = { runId, payableId, amountPaidCents, totalCents };
      const isNew = await record(trx, billOverpaid({ businessId, nowMs }, found));
      const hold = { businessId, scope: "payable", value: payableId, reason, nowMs } as const;
      if (isNew) await createHold(trx, { ...hold, author: PAYRUN });
    }
  });
}
