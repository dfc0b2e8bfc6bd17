import { z } from "zod";
import { cents, lenient, nullable, openEnum, pageOf, undocumentedRecord } from "./common.ts";

/** API specification, section 3. A status we don't know must be taken for "on its way". */
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
 * Payment (API specification, section 2). What says whose money it is must be well formed: a
 * lookup that misread it could take a paid bill for an unpaid one.
 */
export const paymentSchema = z.object({
  id: z.string().min(1),
  status: openEnum<PaymentStatus>(),
  /** Cents of this payment: less than the request's total where the service has split it. */
  amountCents: cents,
  contactId: nullable(z.string()),
  payableId: nullable(z.string()),
  bankAccountId: nullable(z.string()),
  /** Null for a payment recorded outside the service. */
  paymentRail: nullable(z.string()),
  scheduledAt: lenient(z.string()),
  processedAt: lenient(z.string()),
  /** Free text. */
  failureReason: lenient(z.string()),
  createdAt: lenient(z.string()),
  updatedAt: lenient(z.string()),
});

export type Payment = z.infer<typeof paymentSchema>;

/** `GET /v1/payments/{paymentId}`, whose answer is not shown. */
export const onePaymentSchema = undocumentedRecord(paymentSchema, "payment");

export const paymentPageSchema = pageOf(paymentSchema);

/** Answer of `POST /v1/payments`: one payment, or several where a large amount was split. */
export const createdPaymentsSchema = z.object({
  payableId: nullable(z.string()),
  payments: z.array(paymentSchema).min(1),
});

export type CreatedPayments = z.infer<typeof createdPaymentsSchema>;

/** Answer of a cancel. */
export const cancelledPaymentSchema = z.object({
  payment: paymentSchema,
  /** Says to a person where the money went. */
  message: lenient(z.string()),
});

export type CancelledPayment = z.infer<typeof cancelledPaymentSchema>;

/** Answer of `retry-payment`, whose shape is not shown: both null where it is another one. */
export const retriedPaymentSchema = z
  .object({
    payableId: lenient(z.string()),
    payments: lenient(z.array(paymentSchema)),
  })
  .catch({ payableId: null, payments: null });

export type RetriedPayment = z.infer<typeof retriedPaymentSchema>;
