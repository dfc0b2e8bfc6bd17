import { addBankingDays } from "../../src/domain/clock/bank-calendar.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { topUpOverdue } from "../../src/domain/notices/top-up-texts.ts";
import { nextPollMs } from "../../src/domain/payments/poll-times.ts";
import { depositStands, type ShownTransaction } from "../../src/domain/deposits/transactions.ts";
import { changeTopUp, moveTopUp, type TopUp } from "../../src/store/deposits/deposits.ts";
import type { ActivityContext } from "../shared/context.ts";
import { endTopUp, notifyOfLate } from "./record-deposit.ts";
import { incidentIfRefused } from "./refused-debit.ts";

/**
 * Banking days after its arrival date for which a deposit that the service doesn't show is waited
 * for.
 */
const PATIENCE_DAYS = 2;

const NOT_SHOWN = "nothing: it doesn't show it";

/** Reads where a deposit stands. No event reports the balance, so there is no other news of it. */
export async function followDeposit(context: ActivityContext, topUp: TopUp): Promise<void> {
  const { business, businessId, transactionId } = topUp;
  const found = await context.clientOf(business).balance.transactions.listAll();
  const clock = await context.clockOf(business).now();
  const shown = found.find(({ id }) => id === transactionId);
  const stands = standing(topUp, shown, newYorkDate(clock.businessMs));
  if (stands === "failed") await incidentIfRefused(context, topUp, shown, clock);
  await context.store.transactionOf(businessId, async (trx) => {
    const { businessMs, realMs } = clock;
    if (stands === "on-its-way") {
      const pollAtMs = nextPollMs(clock, topUp.sinceMs);
      await changeTopUp(trx, topUp, ["on-its-way"], { pollAtMs }, realMs);
      const isLate = newYorkDate(businessMs) > topUp.arrivesOn;
      if (isLate)
        await notifyOfLate(trx, topUp, topUpOverdue(topUp, shown?.status ?? NOT_SHOWN), clock);
      return;
    }
    if (stands === "failed") {
      const why = shown?.failureReason ?? "the service gives no reason";
      return endTopUp(trx, topUp, `The deposit is ${shown?.status}: ${why}`, clock);
    }
    const change = { state: "completed", reason: null, sinceMs: businessMs } as const;
    const note = { action: "completed", transactionId, amountCents: topUp.amountCents } as const;
    await moveTopUp(trx, topUp, ["on-its-way"], change, note, realMs);
  });
}

function standing(
  topUp: TopUp,
  shown: ShownTransaction | undefined,
  today: string,
): "completed" | "failed" | "on-its-way" {
  const stands = shown === undefined ? "not-shown" : depositStands(shown);
  if (stands !== "not-shown") return stands;
  // If the money is missing after all, the balance shows it, and the run asks for another approval.
  return today > addBankingDays(topUp.arrivesOn, PATIENCE_DAYS) ? "completed" : "on-its-way";
}
