import type { UploadedFile } from "../form.ts";
import { type Requester, segment } from "../requester.ts";
import { type Balance, balanceSchema } from "../schemas/balance.ts";
import {
  type BalanceTransaction,
  balanceTransactionSchema,
} from "../schemas/balance-transaction.ts";
import { type Business, businessListSchema, businessSchema } from "../schemas/business.ts";
import { whereShown } from "../schemas/common.ts";
import type { CallOptions } from "../transport.ts";

/** A withdrawal through the `/api` family, whose amounts are in dollars. */
export interface BusinessWithdrawal {
  /** US dollars, two decimals at most, not above the available balance. */
  amountDollars: number;
  fundingSourceId: string;
}

const changedSchema = whereShown(businessSchema);
const withdrawnSchema = whereShown(balanceTransactionSchema);

/**
 * The businesses of the account (API specification, section 4, which does not show the responses).
 * These writes take no idempotency key: after an outcome `unknown`, read before writing again.
 */
export class Businesses {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
  }

  list(options?: CallOptions): Promise<Business[]> {
    return this.#requester.read("/api/businesses", businessListSchema, options);
  }

  get(businessId: string, options?: CallOptions): Promise<Business> {
    return this.#requester.read(businessPath(businessId), businessSchema, options);
  }

  /** Sets the display name of the business. */
  setAlias(
    businessId: string,
    alias: string,
    options?: CallOptions,
  ): Promise<Business | undefined> {
    const path = `${businessPath(businessId)}/alias`;
    const write = { ...options, method: "PATCH" as const, path, body: { alias } };
    return this.#requester.write(write, changedSchema);
  }

  uploadLogo(
    businessId: string,
    file: UploadedFile,
    options?: CallOptions,
  ): Promise<Business | undefined> {
    const path = `${businessPath(businessId)}/logo`;
    const write = { ...options, method: "POST" as const, path, form: { file } };
    return this.#requester.write(write, changedSchema);
  }

  deleteLogo(businessId: string, options?: CallOptions): Promise<void> {
    const path = `${businessPath(businessId)}/logo`;
    return this.#requester.writeWithoutAnswer({ ...options, method: "DELETE", path });
  }

  /** Returns the same balance as `balance.get`, for any business of the account. */
  getBalance(businessId: string, options?: CallOptions): Promise<Balance> {
    const path = `${businessPath(businessId)}/balance`;
    return this.#requester.read(path, balanceSchema, options);
  }

  /**
   * Withdraws to the business's bank account.
   *
   * WARNING: this moves money without an idempotency key, so nothing prevents a second withdrawal.
   * After an error with `outcome` `unknown` it must never be sent again blindly: a person has to
   * look at the balance's transactions and the bank account first. If possible, use
   * `balance.withdraw`, which takes a key.
   *
   * @returns undefined if the response, whose shape is not documented, has no id
   * @throws {TypeError} for an amount that is not a positive number of whole cents
   * @throws {PaymentsApiError} with `outcome` `unknown` if the money may have moved
   */
  withdrawBalance(
    businessId: string,
    withdrawal: BusinessWithdrawal,
    options?: CallOptions,
  ): Promise<BalanceTransaction | undefined> {
    const { amountDollars: amount, fundingSourceId } = withdrawal;
    // Whole cents divided by 100 give exactly the same number; a finer amount gives another.
    if (!Number.isFinite(amount) || amount <= 0 || Math.round(amount * 100) / 100 !== amount) {
      throw new TypeError("amountDollars must be a positive amount with two decimals at most");
    }
    const path = `${businessPath(businessId)}/withdraw-balance`;
    const body = { amount, fundingSourceId };
    return this.#requester.write({ ...options, method: "POST", path, body }, withdrawnSchema);
  }
}

/** @throws {TypeError} for a text that can't be an id */
export function businessPath(businessId: string): string {
  return `/api/businesses/${segment(businessId)}`;
}
