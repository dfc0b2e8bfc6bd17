import type { ClockReading } from "../../src/business/clock.ts";
import { couldBe, depositCents } from "../../src/domain/deposits/transactions.ts";
import type { Reading } from "../../src/ledger/facts.ts";
import { instantOf } from "../../src/domain/clock/instants.ts";
import { beginReading } from "../../src/ledger/readings.ts";
import type { PaymentsClient } from "../../src/payments-api/index.ts";
import type { Db } from "../../src/store/index.ts";
import type { TopUp } from "../../src/store/deposits/deposits.ts";

/** Reads all balance transactions, and returns every one that the deposit could be. */
export async function readTransactions(
  client: PaymentsClient,
  db: Db,
  clock: ClockReading,
  {
    amountCents,
    account,
  }: Pick<TopUp, "amountCents"> & { readonly account: Pick<TopUp["account"], "bankAccountId"> },
): Promise<Reading> {
  const begun = await beginReading(db, clock);
  const asked = { amountCents, bankAccountId: account.bankAccountId };
  const found = couldBe(asked, await client.balance.transactions.listAll());
  return {
    ...begun,
    isWhole: true,
    shownIds: found.map(({ id }) => id),
    shown: found.map((transaction) => ({
      id: transaction.id,
      amountCents: depositCents(transaction),
      status: transaction.status ?? "",
      contactId: null,
      bankAccountId: transaction.bankAccountId ?? null,
      rail: null,
      executionDate: null,
      createdAtMs: instantOf(transaction.createdAt),
    })),
  };
}
