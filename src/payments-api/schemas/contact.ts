import { z } from "zod";
import { lenient, nullable, openEnum, pageOf } from "./common.ts";

export type ContactType = "payee" | "business" | (string & {});

export type ContactStatus = "active" | "archived" | "revoked" | (string & {});

type PaymentDirection = "bidirectional" | "can_pay" | "can_be_paid" | "none" | (string & {});

/** Contact (API specification, section 2). Never contains account numbers or tax ids. */
export const contactSchema = z.object({
  id: z.string().min(1),
  type: openEnum<ContactType>(),
  status: openEnum<ContactStatus>(),
  displayName: lenient(z.string()),
  /** Always empty for `business` contacts. */
  emails: z.array(z.string()).catch([]),
  phone: lenient(z.string()),
  paymentDirection: lenient(openEnum<PaymentDirection>()),
  /** Days. */
  netTerms: lenient(z.number()),
  /** Null if no bank account is on file. */
  bankAccount: nullable(z.object({ last4: nullable(z.string()) })),
  taxInfo: lenient(
    z.object({
      legalName: lenient(z.string()),
      taxIdType: lenient(z.string()),
      taxIdMask: lenient(z.string()),
    }),
  ),
  /** True if a valid bank account is on file and the contact is active. */
  paymentReady: z.boolean(),
  createdAt: lenient(z.string()),
  /** Null right after creation. Part of what an approval binds, so it must be a text or null. */
  updatedAt: nullable(z.string()),
  archivedAt: lenient(z.string()),
});

export type Contact = z.infer<typeof contactSchema>;

export const contactPageSchema = pageOf(contactSchema);
