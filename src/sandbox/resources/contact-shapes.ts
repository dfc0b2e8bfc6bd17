import { z } from "zod";
import { instantShape } from "../http/shapes.ts";

/** Contact, section 2. It never includes account numbers or tax ids. */
export const contactShape = z
  .object({
    id: z.string(),
    type: z.enum(["payee", "business"]),
    status: z.enum(["active", "archived", "revoked"]),
    displayName: z.string().nullable(),
    emails: z.array(z.string()).max(5),
    phone: z.string().nullable(),
    paymentDirection: z.enum(["bidirectional", "can_pay", "can_be_paid", "none"]),
    netTerms: z.int().min(0).nullable().meta({ description: "Days." }),
    bankAccount: z.object({ last4: z.string() }).nullable(),
    taxInfo: z
      .object({
        legalName: z.string().nullable(),
        taxIdType: z.enum(["ein", "ssn"]).nullable(),
        taxIdMask: z.string().nullable(),
      })
      .nullable(),
    paymentReady: z.boolean(),
    createdAt: instantShape,
    updatedAt: instantShape.nullable().meta({ description: "Null right after creation." }),
    archivedAt: instantShape.nullable(),
  })
  .meta({ id: "Contact" });
