import { type Requester, segment, type WriteOptions } from "../requester.ts";
import {
  type BankAccount,
  bankAccountListSchema,
  bankAccountSchema,
} from "../schemas/bank-account.ts";
import { whereShown } from "../schemas/common.ts";
import type { CallOptions } from "../transport.ts";

/** A bank account to link. The specification doesn't show the shape: this is our reading. */
export interface NewBankAccount {
  accountNumber: string;
  /** Nine-digit ABA number. */
  routingNumber: string;
  accountType: "checking" | "savings";
  name?: string;
}

const changedSchema = whereShown(bankAccountSchema);

/** The business's own bank accounts (API specification, section 4). */
export class BankAccounts {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
  }

  /** Lists all of them; this list has no pages. */
  list(options?: CallOptions): Promise<BankAccount[]> {
    return this.#requester.read("/v1/bank-accounts", bankAccountListSchema, options);
  }

  get(bankAccountId: string, options?: CallOptions): Promise<BankAccount> {
    const path = `/v1/bank-accounts/${segment(bankAccountId)}`;
    return this.#requester.read(path, bankAccountSchema, options);
  }

  /**
   * Links a bank account, to which the service then sends two micro-deposits. No error shows the
   * account number.
   *
   * @returns undefined if the response, which is not documented, is not an account; `list` shows it
   * @deprecated by the service (API specification, section 4): people link accounts in its web app.
   */
  create(account: NewBankAccount, options?: WriteOptions): Promise<BankAccount | undefined> {
    const sensitive = [account.accountNumber];
    const write = { ...options, path: "/v1/bank-accounts", body: account, sensitive };
    return this.#requester.write({ ...write, method: "POST" }, changedSchema);
  }

  /**
   * Verifies an account by the amounts of its two micro-deposits, in either order. A wrong attempt
   * counts, and after three the service gives the account up, so never guess. The specification
   * does not show path, body and response.
   *
   * @returns undefined if the response is not an account; `get` shows its state
   */
  verifyMicroDeposits(
    bankAccountId: string,
    amountsCents: readonly [number, number],
    options?: WriteOptions,
  ): Promise<BankAccount | undefined> {
    const path = `/v1/bank-accounts/${segment(bankAccountId)}/verify-micro-deposits`;
    const write = { ...options, method: "POST" as const, path, body: { amountsCents } };
    return this.#requester.write(write, changedSchema);
  }
}
