/**
 * Everything about which the API specification is silent, each point with the answers that a
 * service may give. The defaults are those that our own sandbox does not give.
 */
export interface OtherServiceOptions {
  /** Shape of the items of `GET /v1/payables`, which the specification does not show. */
  readonly payableListItems: "id-and-status" | "without-contact" | "whole";
  /** When `amountPaidCents` counts a payment. */
  readonly amountPaidMoves: "at-creation" | "at-settlement";
  /** Status of the state refusals, which section 7 leaves open. */
  readonly refusalStatus: 400 | 403 | 409 | 422;
  /** True if 401, 403 and 404 answers to writes are stored under the key. */
  readonly storesAuthFailures: boolean;
  /** Status in which a payment with a date appears. */
  readonly newPaymentStatus: string;
  /** Milliseconds for which a new payment is missing from `GET /v1/payments`. */
  readonly listDelayMs: number;
  /** Answer of `retry-payment`, whose shape the specification does not show. */
  readonly retryPayment: "bare-payment" | "unsupported";
  readonly ids: "odd" | "long" | "plain";
  /** Difference of the `Date` header from real time. */
  readonly dateSkewMs: number;
  readonly retryAfter: "date" | "seconds";
  /** `paymentRail` of payments, compared with the rail of their source. */
  readonly paymentRails: "null" | "renamed" | "as-source";
  /** Where money comes from: several banks, or the balance, whose amount is not shown. */
  readonly funding: "banks" | "balance";
  /** True if the `pay` of a bank source names its account. */
  readonly payNamesAccount: boolean;
  readonly balance: "ready" | "feature_unavailable" | "not_found";
  /** Answer of `GET /v1/webhook-endpoints` and its deliveries. */
  readonly webhookApi: "forbidden" | "not-found";
  /** True if payments in the answer of a POST carry `payableId`. */
  readonly answersNamePayable: boolean;
  /** Largest amount of one payment; a larger amount is split. */
  readonly splitAboveCents: number;
  /** One in this many reads is answered by something in front of the service; 0 for none. */
  readonly failingReads: number;
  /** True if cents are written as `10000.0`, which JSON allows. */
  readonly centsAsFloats: boolean;
}

export const DIFFERENT: OtherServiceOptions = {
  payableListItems: "id-and-status",
  amountPaidMoves: "at-creation",
  refusalStatus: 422,
  storesAuthFailures: true,
  newPaymentStatus: "scheduled",
  listDelayMs: 0,
  retryPayment: "bare-payment",
  ids: "plain",
  dateSkewMs: 0,
  retryAfter: "date",
  paymentRails: "renamed",
  funding: "banks",
  payNamesAccount: true,
  balance: "not_found",
  webhookApi: "not-found",
  answersNamePayable: false,
  splitAboveCents: Number.MAX_SAFE_INTEGER,
  failingReads: 0,
  centsAsFloats: true,
};
