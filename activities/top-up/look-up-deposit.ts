import type { Attempt } from "../../src/contracts/attempt.ts";
import {
  couldBe,
  type DepositLookUp,
  judgeDepositLookUp,
  type ShownTransaction,
} from "../../src/domain/top-ups/transactions.ts";
import { type NotedPayment, recordLookUp } from "../../src/store/attempt-writes.ts";
import { depositIds, type TopUp } from "../../src/store/top-ups.ts";
import type { ActivityContext } from "../context.ts";
import { conclusiveFromMs } from "../pay/look-up.ts";

/**
 * Reads every balance transaction and says what became of a deposit; the look-up is recorded,
 * because only a recorded one lets a new key follow.
 */
export async function lookUpDeposit(
  context: ActivityContext,
  topUp: TopUp,
  attempt: Attempt,
): Promise<{
  readonly verdict: DepositLookUp;
  readonly afterWindow: boolean;
  readonly windowEndsMs: number;
}> {
  const { business, businessId } = topUp;
  const clock = await context.clockOf(business).now();
  const found = await context.clientOf(business).balance.transactions.listAll();
  const after = await context.clockOf(business).now();
  // The earlier of both readings can't end the window too soon.
  const serviceMs = Math.min(clock.serviceMs, after.serviceMs);
  const windowEndsMs = conclusiveFromMs(attempt, { ...clock, serviceMs });
  const others = await depositIds(context.store.db, businessId);
  const asked = { amountCents: attempt.amountCents, bankAccountId: topUp.account.bankAccountId };
  const known = new Set([...attempt.knownPaymentIds, ...others]);
  const verdict = judgeDepositLookUp(asked, known, found);
  const afterWindow = serviceMs >= windowEndsMs;
  const facts = {
    verdict: verdict.kind,
    isConclusive: afterWindow,
    shown: found.length,
    found: foundBy(verdict, found),
  };
  await context.store.transactionOf(businessId, (trx) =>
    recordLookUp(trx, attempt, facts, { serviceMs, nowMs: clock.realMs }),
  );
  return { verdict, afterWindow, windowEndsMs };
}

/** The transactions that could be taken for this deposit, and are there before it is sent. */
export async function knownBefore(
  context: ActivityContext,
  { business, amountCents }: Pick<TopUp, "business" | "amountCents">,
): Promise<string[]> {
  const found = await context.clientOf(business).balance.transactions.listAll();
  return couldBe({ amountCents }, found).map(({ id }) => id);
}

function foundBy(verdict: DepositLookUp, found: readonly ShownTransaction[]): NotedPayment[] {
  if (verdict.kind === "none") return [];
  const ids = verdict.kind === "adopt" ? [verdict.transaction.id] : verdict.transactionIds;
  return found
    .filter(({ id }) => ids.includes(id))
    .map(({ id, amountCents, status }) => ({
      id,
      amountCents: amountCents ?? 0,
      status: status ?? "not told",
    }));
}
