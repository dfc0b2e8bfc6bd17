import { z } from "zod";
import { instantShape } from "../http/shapes.ts";
import { billFields, itemsShape } from "../resources/bill-shapes.ts";
import { invoicePaymentStatuses, invoiceStatuses } from "./tables.ts";

/** Invoice, section 2. */
export const invoiceShape = z
  .object({
    id: z.string(),
    publicId: z.string(),
    status: z.enum(invoiceStatuses),
    paymentStatus: z.enum(invoicePaymentStatuses),
    ...billFields,
    customer: z.object({ id: z.string().nullable(), displayName: z.string().nullable() }),
    paymentLink: z.object({
      enabled: z.boolean(),
      url: z.url(),
      expiresAt: instantShape.nullable(),
    }),
    dashboardUrl: z.url(),
    items: itemsShape,
  })
  .meta({ id: "Invoice" });
