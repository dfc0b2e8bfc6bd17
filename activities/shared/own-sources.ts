import { unlessRefused } from "../../src/business/source-money.ts";
import type { PayFields } from "../../src/contracts/pay-run.ts";
import { payFields } from "../../src/domain/funding-source.ts";
import type { BankAccount, FundingSource, PaymentsClient } from "../../src/payments-api/index.ts";

/** A funding source with what a payment from it sends. */
export interface OwnSource extends FundingSource {
  readonly fields: PayFields;
}

/** What a business can pay from, as the service showed it a moment ago. */
export interface Payer {
  readonly sources: readonly OwnSource[];
  /** Undefined if the token may not read them. */
  readonly accounts: readonly BankAccount[] | undefined;
}

/**
 * Reads what a business can pay from. A source whose fields can't be used, or that names a bank
 * account which isn't the business's own, can't pay, whatever it says.
 */
export async function readPayer(client: PaymentsClient): Promise<Payer> {
  const sources = await client.fundingSources.list();
  const accounts = await unlessRefused(client.bankAccounts.list());
  const own = sources.map((source): OwnSource => {
    const fields = payFields(source.pay, accounts);
    if (typeof fields !== "string") return { ...source, fields };
    const cantPay = { canPay: false, unavailableReason: fields, actionUrl: null };
    return { ...source, ...(source.canPay ? cantPay : {}), fields: {} };
  });
  return { sources: own, accounts };
}
