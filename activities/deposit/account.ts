import type { BusinessProfile } from "../../src/config/business-profile.ts";
import type { TopUpRule } from "../../src/contracts/playbook.ts";
import type { TopUpAccount } from "../../src/contracts/deposit.ts";
import type { PaymentsClient } from "../../src/payments-api/index.ts";
import { unlessRefused } from "../../src/business/source-money.ts";

/** The account that a deposit would come from, or the reason why none can be made. */
export type DepositFrom =
  | { readonly kind: "account"; readonly account: TopUpAccount; readonly sameDayCents: number }
  | { readonly kind: "none"; readonly reason: string };

/**
 * Reads the bank account that a playbook deposits from, and how fast the balance takes its money.
 *
 * A deposit debits the account, so a person must have accepted the ACH debit authorization, as for
 * paying from it.
 */
export async function depositFrom(
  client: PaymentsClient,
  profile: BusinessProfile,
  rule: TopUpRule,
): Promise<DepositFrom> {
  if (profile.achAuthorization === undefined) {
    return none(
      `nobody has accepted the ACH debit authorization for business “${profile.name}”: add achAuthorization: { acceptedBy, acceptedAt } to its profile once a person has`,
    );
  }
  const accounts = await unlessRefused(client.bankAccounts.list());
  if (accounts === undefined) return none("the token may not read the bank accounts");
  const account = accounts.find(({ id, isDefault, status }) =>
    rule.from === "default" ? isDefault && status === "verified" : id === rule.from,
  );
  if (account === undefined) {
    return none(
      rule.from === "default"
        ? "there is no verified default bank account"
        : `there is no bank account “${rule.from}”`,
    );
  }
  if (account.status !== "verified") {
    return none(`the bank account “${account.id}” is ${account.status}, not verified`);
  }
  const balance = await unlessRefused(client.balance.get());
  if (balance !== undefined && balance.status !== "open") {
    return none(`the balance is ${balance.status}`);
  }
  const sameDay = balance?.sameDayAch;
  return {
    kind: "account",
    account: {
      bankAccountId: account.id,
      name: account.institutionName ?? account.name,
      last4: account.accountNumberLast4,
    },
    sameDayCents: sameDay?.inbound === true ? (sameDay.maxAmountCents ?? 0) : 0,
  };
}

function none(reason: string): DepositFrom {
  return { kind: "none", reason };
}
