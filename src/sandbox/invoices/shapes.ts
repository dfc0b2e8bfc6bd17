import { z } from "zod";
import { dateShape, instantShape } from "../http/shapes.ts";
import { invoicePaymentStatuses, invoiceStatuses } from "./tables.ts";

/** Invoice, section 2. */
export const invoiceShape = z
  .object({
    id: z.string(),
    publicId: z.string(),
    status: z.enum(invoiceStatuses),
    paymentStatus: z.enum(invoicePaymentStatuses),
    totalAmountCents: z.int().min(1),
    amountPaidCents: z.int().min(0),
    remainingAmountCents: z.int(),
    dueDate: dateShape.nullable(),
    issueDate: dateShape.nullable(),
    customNumber: z.string().nullable(),
    description: z.string().nullable(),
    customer: z.object({ id: z.string().nullable(), displayName: z.string().nullable() }),
    paymentLink: z.object({
      enabled: z.boolean(),
      url: z.url(),
      expiresAt: instantShape.nullable(),
    }),
    dashboardUrl: z.url(),
    items: z.array(
      z.object({
        name: z.string().nullable(),
        description: z.string().nullable(),
        quantity: z.number(),
        unitAmountCents: z.int(),
        totalCents: z.int(),
      }),
    ),
  })
  .meta({ id: "Invoice" });
