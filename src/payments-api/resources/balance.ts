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

/** Money to move in or out; the specification does not show the shape, so this is how we read it. */
export interface BalanceTransfer {
  amountCents: number;
  /** A verified bank account of the business. */
  bankAccountId: string;
}

const movedSchema = whereShown(balanceTransactionSchema);

/** The balance that the service holds for the business (API specification, section 4). */
export class BalanceResource {
  /** Deposits and withdrawals: where to look one up after an outcome `unknown`. */
  readonly transactions: PagedReads<BalanceTransaction, Record<never, never>>;
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
    const path = "/v1/balance/transactions";
    this.transactions = new PagedReads(requester, path, balanceTransactionPageSchema);
  }

  /** @throws {PaymentsApiError} `feature_unavailable`, or `setup_required` with `details.actionUrl`. */
  get(options?: CallOptions): Promise<Balance> {
    return this.#requester.read("/v1/balance", balanceSchema, options);
  }

  /**
   * Moves money from a bank account into the balance, at most once per `idempotencyKey`.
   *
   * @returns undefined where the answer, whose shape is not shown, has no id.
   * @throws {PaymentUnconfirmedError} the service can't say whether it moved.
   * @throws {PaymentsApiError} with `outcome` `unknown` when it may have moved.
   */
  deposit(
    transfer: BalanceTransfer,
    options: MoneyWriteOptions,
  ): Promise<BalanceTransaction | undefined> {
    return this.#move("/v1/balance/deposits", transfer, options);
  }

  /** Moves money of the balance to a bank account; otherwise as `deposit`. */
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
