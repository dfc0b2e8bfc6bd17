import type { MoneyWriteOptions, Requester } from "../requester.ts";
import { type Balance, balanceSchema } from "../schemas/balance.ts";
import {
  type BalanceTransaction,
  balanceTransactionPageSchema,
  balanceTransactionSchema,
} from "../schemas/balance-transaction.ts";
import { whereShown } from "../schemas/common.ts";
import type { CallOptions } from "../transport.ts";
import { PagedReads } from "./paged-reads.ts";

/** Money to move in or out. The specification doesn't show the shape: this is our reading. */
export interface BalanceTransfer {
  amountCents: number;
  /** A verified bank account of the business. */
  bankAccountId: string;
}

const movedSchema = whereShown(balanceTransactionSchema);

/** The balance that the service holds for the business (API specification, section 4). */
export class BalanceResource {
  /** Deposits and withdrawals, for looking one up after an outcome `unknown`. */
  readonly transactions: PagedReads<BalanceTransaction, Record<never, never>>;
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
    const path = "/v1/balance/transactions";
    this.transactions = new PagedReads(requester, path, balanceTransactionPageSchema);
  }

  /**
   * @throws {PaymentsApiError} `feature_unavailable`, or `setup_required` with `details.actionUrl`
   */
  get(options?: CallOptions): Promise<Balance> {
    return this.#requester.read("/v1/balance", balanceSchema, options);
  }

  /**
   * Moves money from a bank account into the balance, at most once per `idempotencyKey`.
   *
   * @returns undefined if the response, whose shape is not documented, has no id
   * @throws {PaymentUnconfirmedError} if the service can't say whether the money moved
   * @throws {PaymentsApiError} with `outcome` `unknown` if the money may have moved
   */
  deposit(
    transfer: BalanceTransfer,
    options: MoneyWriteOptions,
  ): Promise<BalanceTransaction | undefined> {
    return this.#move("/v1/balance/deposits", transfer, options);
  }

  /** Moves money from the balance to a bank account; otherwise like `deposit`. */
  withdraw(
    transfer: BalanceTransfer,
    options: MoneyWriteOptions,
  ): Promise<BalanceTransaction | undefined> {
    return this.#move("/v1/balance/withdrawals", transfer, options);
  }

  #move(
    path: string,
    body: BalanceTransfer,
    options: MoneyWriteOptions,
  ): Promise<BalanceTransaction | undefined> {
    return this.#requester.write({ ...options, method: "POST", path, body }, movedSchema);
  }
}
