import { type Requester, segment } from "../requester.ts";
import {
  type BankAccount,
  bankAccountListSchema,
  bankAccountSchema,
} from "../schemas/bank-account.ts";
import type { CallOptions } from "../transport.ts";

/** The business's own bank accounts (API specification, section 4). */
export class BankAccounts {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
  }

  /** All of them: this list has no pages. */
  list(options?: CallOptions): Promise<BankAccount[]> {
    return this.#requester.read("/v1/bank-accounts", bankAccountListSchema, options);
  }

  get(bankAccountId: string, options?: CallOptions): Promise<BankAccount> {
    const path = `/v1/bank-accounts/${segment(bankAccountId)}`;
    return this.#requester.read(path, bankAccountSchema, options);
  }
}
