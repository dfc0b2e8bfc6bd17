import { z } from "zod";
import { instantShape } from "../http/shapes.ts";
import { paymentStatuses } from "./payment-rows.ts";

/** Payment, section 2. */
export const paymentShape = z
  .object({
    id: z.string(),
    status: z.enum(paymentStatuses),
    amountCents: z.int().min(1).meta({
      description: "Of this payment; less than the request's total where it was split.",
    }),
    contactId: z.string().nullable(),
    payableId: z.string().nullable(),
    bankAccountId: z.string().nullable().meta({
      description: "Account debited; null for a payment from the balance.",
    }),
    paymentRail: z.enum(["SERVICE", "PROVIDER"]).nullable().meta({
      description: "Null for a payment recorded outside the service.",
    }),
    scheduledAt: instantShape,
    processedAt: instantShape.nullable(),
    failureReason: z.string().nullable(),
    createdAt: instantShape,
    updatedAt: instantShape,
  })
  .meta({ id: "Payment" });

/** The payments that a request has made: several where a large amount was split. */
export const createdPaymentsShape = z
  .object({ payableId: z.string(), payments: z.array(paymentShape).min(1) })
  .meta({ id: "CreatedPayments" });

export const cancelledPaymentShape = z
  .object({
    payment: paymentShape,
    message: z.string().meta({ description: "Says where the money went." }),
  })
  .meta({ id: "CancelledPayment" });
