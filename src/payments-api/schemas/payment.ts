import { z } from "zod";
import { cents, lenient, nullable, openEnum, pageOf, undocumentedRecord } from "./common.ts";

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
  id: z.string().min(1),
  status: openEnum<PaymentStatus>(),
  /** Cents of this payment: less than the request's total if the service has split it. */
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

/** `GET /v1/payments/{paymentId}`, whose response is not documented. */
export const onePaymentSchema = undocumentedRecord(paymentSchema, "payment");

export const paymentPageSchema = pageOf(paymentSchema);

/** Response of `POST /v1/payments`: one payment, or several if a large amount was split. */
export const createdPaymentsSchema = z.object({
  payableId: nullable(z.string()),
  payments: z.array(paymentSchema).min(1),
});

export type CreatedPayments = z.infer<typeof createdPaymentsSchema>;

/** Response of a cancel. */
export const cancelledPaymentSchema = z.object({
  payment: paymentSchema,
  /** Tells a person where the money went. */
  message: lenient(z.string()),
});

export type CancelledPayment = z.infer<typeof cancelledPaymentSchema>;

/** Response of `retry-payment`, whose shape is not documented: both null if it is another one. */
export const retriedPaymentSchema = z
  .object({
    payableId: lenient(z.string()),
    payments: lenient(z.array(paymentSchema)),
  })
  .catch({ payableId: null, payments: null });

export type RetriedPayment = z.infer<typeof retriedPaymentSchema>;
