import { takenBack } from "../../src/domain/deposits/transactions.ts";
import { recordReturned } from "../../src/store/deposits/returned-deposits.ts";
import { topUpsOf } from "../../src/store/deposits/deposits.ts";
import { unlessRefused } from "../../src/business/source-money.ts";
import type { ActivityContext } from "../shared/context.ts";
import { incidentIfRefused } from "./refused-debit.ts";

/**
 * Reads a workflow's arrived deposits again before it requests another one, so that money which the
 * bank has taken back is reported as such and not as a mere shortage.
 */
export async function lookAtArrived(
  context: ActivityContext,
  asking: { readonly owner: string; readonly business: string; readonly businessId: string },
): Promise<void> {
  const { owner, business, businessId } = asking;
  const arrived = (await topUpsOf(context.store.db, owner)).filter(
    ({ state, transactionId }) => state === "completed" && transactionId !== null,
  );
  if (arrived.length === 0) return;
  const { transactions } = context.clientOf(business).balance;
  const shown = await unlessRefused(transactions.listAll());
  const clock = await context.clockOf(business).now();
  for (const topUp of arrived) {
    const found = shown?.find(({ id }) => id === topUp.transactionId);
    const reason = takenBack(found);
    if (reason === null) continue;
    await incidentIfRefused(context, topUp, found, clock);
    await context.store.transactionOf(businessId, (trx) =>
      recordReturned(trx, topUp, reason, clock),
    );
  }
}
