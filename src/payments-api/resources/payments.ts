import { type MoneyWriteOptions, type Requester, segment } from "../requester.ts";
import {
  type CancelledPayment,
  cancelledPaymentSchema,
  type CreatedPayments,
  createdPaymentsSchema,
  type Payment,
  onePaymentSchema,
  paymentPageSchema,
  type PaymentStatus,
  type RetriedPayment,
  retriedPaymentSchema,
} from "../schemas/payment.ts";
import type { CallOptions } from "../transport.ts";
import type { PagingOptions } from "../pagination.ts";
import { PagedReads } from "./paged-reads.ts";

/** Payments of one bill, parts, splits and retries included; a lane reads 80 bills at once. */
const OF_ONE_BILL_MAX = 2_000;

type PaymentFilters = {
  /** All payments of the bill, splits and retries included. */
  payableId?: string | undefined;
  contactId?: string | undefined;
  status?: PaymentStatus | undefined;
  /** ISO 8601, inclusive. */
  createdAfter?: string | undefined;
  /** ISO 8601, exclusive. */
  createdBefore?: string | undefined;
};

interface PaymentTerms {
  /** Account to debit. */
  bankAccountId?: string;
  clearing?: "STANDARD" | "NEXT_AVAILABLE";
  /** `YYYY-MM-DD`, tomorrow or later; runs at 9:00 AM New York time. */
  scheduledAt?: string;
  /** As in `pay` of the funding source. */
  paymentRail?: unknown;
  /** As in `pay` of the funding source. */
  fundingSource?: unknown;
  /** True once a person has accepted the ACH debit authorization. */
  achAuthorizationAccepted?: boolean;
}

/** Pays a bill: without an amount, all that is unpaid; with a smaller one, a part of it. */
interface PayPayable extends PaymentTerms {
  payableId: string;
  amountCents?: number;
}

/** Pays a contact without a bill; the service makes one. */
interface PayContact extends PaymentTerms {
  contactId: string;
  amountCents: number;
  description?: string;
  /** At most 21 characters. */
  customNumber?: string;
  categoryId?: string;
}

/** Payments (API specification, section 4). Writes need a key, and are sent once. */
export class Payments extends PagedReads<Payment, PaymentFilters> {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    super(requester, "/v1/payments", paymentPageSchema);
    this.#requester = requester;
  }

  get(paymentId: string, options?: CallOptions): Promise<Payment> {
    return this.#requester.readOne("/v1/payments", paymentId, onePaymentSchema, options);
  }

  override listAll(filters?: PaymentFilters, options?: PagingOptions): Promise<Payment[]> {
    const isOfOne = filters?.payableId !== undefined;
    return super.listAll(filters, isOfOne ? { itemsMax: OF_ONE_BILL_MAX, ...options } : options);
  }

  /**
   * Pays a payable or a contact, at most once per `idempotencyKey`.
   *
   * @returns the payments created; several if the service splits a large amount
   * @throws {PaymentUnconfirmedError} if the service can't say whether it paid
   * @throws {PaymentsApiError} with `outcome` `unknown` if it may have paid
   */
  create(payment: PayPayable | PayContact, options: MoneyWriteOptions): Promise<CreatedPayments> {
    const write = { ...options, method: "POST" as const, path: "/v1/payments", body: payment };
    return this.#requester.write(write, createdPaymentsSchema);
  }

  /**
   * Cancels a held or scheduled payment. The message says where the money went.
   *
   * @param cancel `reason`: at most 500 characters, shown on the bill
   * @throws {PaymentsApiError} `payment_not_cancellable`, with `details.status`
   */
  cancel(
    paymentId: string,
    cancel: { reason?: string },
    options: MoneyWriteOptions,
  ): Promise<CancelledPayment> {
    const path = `/v1/payments/${segment(paymentId)}/cancel`;
    const write = { ...options, method: "POST" as const, path, body: cancel };
    return this.#requester.write(write, cancelledPaymentSchema);
  }

  /**
   * Pays again what failed last for this bill. The response's shape is not documented: look the
   * payments up if it has none.
   */
  retry(payableId: string, options: MoneyWriteOptions): Promise<RetriedPayment> {
    const path = `/v1/payables/${segment(payableId)}/retry-payment`;
    return this.#requester.write({ ...options, method: "POST", path }, retriedPaymentSchema);
  }
}
