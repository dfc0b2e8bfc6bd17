import { z } from "zod";
import {
  UNREADABLE,
  amountCents,
  id,
  serviceInstant,
  lenient,
  nullable,
  openEnum,
  orUnreadable,
  pageSchema,
  type Partly,
  shownText,
  undocumentedRecord,
  shortText,
} from "./common.ts";

/** API specification, section 3. An unknown status must be taken for "on its way". */
export type PaymentStatus =
  | "pending"
  | "scheduled"
  | "processing"
  | "held"
  | "completed"
  | "failed"
  | "returned"
  | "cancelled"
  | "refund_pending"
  | "refunded"
  | (string & {});

/**
 * Payment (API specification, section 2). The fields that identify the payment's owner must be well
 * formed: a lookup that misread them could take a paid bill for an unpaid one.
 */
export const paymentSchema = z.object({
  id,
  status: openEnum<PaymentStatus>(),
  /** Cents of this payment: less than the request's total if the service has split it. */
  amountCents: amountCents.min(1),
  contactId: nullable(id),
  payableId: nullable(id),
  bankAccountId: nullable(shortText),
  /** Null for a payment recorded outside the service. */
  paymentRail: nullable(shortText),
  scheduledAt: lenient(serviceInstant),
  processedAt: lenient(serviceInstant),
  /** Free text. */
  failureReason: shownText,
  createdAt: lenient(serviceInstant),
  updatedAt: lenient(serviceInstant),
});

/**
 * A payment. One whose terms can't be read counts as on its way: its status says so, and a cent
 * stands for the amount that nobody knows.
 */
export type Payment = z.infer<typeof paymentSchema> & Partly;

const shownPaymentSchema = orUnreadable(
  // Shown without its bill, if only as null, a payment may be of any bill.
  paymentSchema.extend({ payableId: id.nullable() }),
  { status: UNREADABLE },
  { amountCents: 1, payableId: null },
);
/** `GET /v1/payments/{paymentId}`, whose response is not documented. */
export const onePaymentSchema = undocumentedRecord(shownPaymentSchema, "payment");

export const paymentPageSchema = pageSchema(shownPaymentSchema);

/** Response of `POST /v1/payments`: one payment, or several if a large amount was split. */
export const createdPaymentsSchema = z.object({
  payableId: nullable(shortText),
  payments: z.array(paymentSchema).min(1),
});

export type CreatedPayments = z.infer<typeof createdPaymentsSchema>;

/** Response of a cancel. */
export const cancelledPaymentSchema = z.object({
  payment: paymentSchema,
  /** Tells a person where the money went. */
  message: shownText,
});

export type CancelledPayment = z.infer<typeof cancelledPaymentSchema>;

/** Response of `retry-payment`, whose shape is not documented: both null if it is another one. */
export const retriedPaymentSchema = z
  .object({
    payableId: shownText,
    payments: lenient(z.array(paymentSchema)),
  })
  .catch({ payableId: null, payments: null });

export type RetriedPayment = z.infer<typeof retriedPaymentSchema>;
