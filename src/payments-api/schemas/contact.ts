import { z } from "zod";
import {
  UNREADABLE,
  id,
  serviceInstant,
  lenient,
  nullable,
  openEnum,
  orUnreadable,
  pageSchema,
  shownText,
  longText,
} from "./common.ts";

export type ContactType = "payee" | "business" | (string & {});

export type ContactStatus = "active" | "archived" | "revoked" | (string & {});

/** API specification, section 8. */
const EMAILS_MOST = 5;

type PaymentDirection = "bidirectional" | "can_pay" | "can_be_paid" | "none" | (string & {});

/** Contact (API specification, section 2). Never contains account numbers or tax ids. */
const readableContactSchema = z.object({
  id,
  type: openEnum<ContactType>().catch(UNREADABLE),
  status: openEnum<ContactStatus>(),
  displayName: shownText,
  /** Always empty for `business` contacts. */
  emails: z.preprocess(
    (came) => (Array.isArray(came) ? came.slice(0, EMAILS_MOST) : came),
    z.array(longText).catch([]),
  ),
  phone: shownText,
  paymentDirection: lenient(openEnum<PaymentDirection>()),
  /** Days. */
  netTerms: lenient(z.number()),
  /** Null if no bank account is on file. */
  bankAccount: nullable(z.object({ last4: nullable(z.string().max(4)) })),
  taxInfo: lenient(
    z.object({
      legalName: shownText,
      taxIdType: shownText,
      taxIdMask: shownText,
    }),
  ),
  /** True if a valid bank account is on file and the contact is active. */
  paymentReady: z.boolean(),
  createdAt: lenient(serviceInstant),
  /** Null right after creation. Part of what an approval binds, so it must be an instant or null. */
  updatedAt: nullable(serviceInstant),
  archivedAt: lenient(serviceInstant),
});

/** A contact. One whose terms can't be read can't be paid: its status says so. */
export const contactSchema = orUnreadable(readableContactSchema, {
  status: UNREADABLE,
  paymentReady: false,
});

export type Contact = z.infer<typeof contactSchema>;

export const contactPageSchema = pageSchema(contactSchema);
