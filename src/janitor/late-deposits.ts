import type { BusinessProfile } from "../config/business-profile.ts";
import { mayReturnSinceMs } from "../domain/payments/return-window.ts";
import { takenBack } from "../domain/deposits/transactions.ts";
import { reasonOf } from "../process/repeat.ts";
import { arrivedTopUps, recordReturned } from "../store/deposits/returned-deposits.ts";
import type { JanitorContext } from "./context.ts";

/**
 * Looks again at the deposits that have arrived within the return window: a bank takes them back
 * like any debit, and no event tells of it. A token that may pay may not read the balance: then it
 * is logged, and nothing else suffers.
 */
export async function lookAtDeposits(
  context: JanitorContext,
  profile: BusinessProfile,
): Promise<void> {
  await read(context, profile).catch((error: unknown) => {
    const fields = { business: profile.name, reason: reasonOf(error) };
    context.log.info("deposits could not be read again", fields);
  });
}

async function read(
  context: JanitorContext,
  { businessId, name: business }: BusinessProfile,
): Promise<void> {
  const { store, log } = context;
  const clock = await context.clockOf(business).now();
  const arrived = await arrivedTopUps(store.db, businessId, mayReturnSinceMs(clock.businessMs));
  if (arrived.length === 0) return;
  const missing = new Map(arrived.map((topUp) => [topUp.transactionId, topUp]));
  for await (const page of context.clientOf(business).balance.transactions.iteratePages()) {
    for (const shown of page) {
      const topUp = missing.get(shown.id);
      missing.delete(shown.id);
      const reason = takenBack(shown);
      if (topUp === undefined || reason === null) continue;
      log.warn("the bank has taken back a deposit", { business, deposit: topUp.subject });
      await store.transactionOf(businessId, (trx) => recordReturned(trx, topUp, reason, clock));
    }
    if (missing.size === 0) return;
  }
}
