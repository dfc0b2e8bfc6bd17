import { z } from "zod";
import {
  cents,
  id,
  serviceInstant,
  lenient,
  nullable,
  openEnum,
  orUnreadable,
  pageSchema,
  shownText,
  longText,
  undocumented,
  shortText,
} from "./common.ts";

export type InvoiceStatus =
  | "draft"
  | "open"
  | "paid"
  | "void"
  | "declined"
  | "blocked"
  | (string & {});

type InvoicePaymentStatus =
  | "none"
  | "scheduled"
  | "processing"
  | "held"
  | "settled"
  | "failed"
  | "clawback"
  | (string & {});

const customerSchema = z.object({
  /** A contact's id; null while the customer is a pending invitation. */
  id: nullable(shortText),
  displayName: shownText,
});

/** Invoice: a bill that the business sends (API specification, section 2). */
export const invoiceSchema = z.object({
  id,
  publicId: shownText,
  status: openEnum<InvoiceStatus>(),
  paymentStatus: openEnum<InvoicePaymentStatus>(),
  totalAmountCents: cents,
  amountPaidCents: cents,
  remainingAmountCents: lenient(cents),
  /** `YYYY-MM-DD`. */
  dueDate: shownText,
  /** `YYYY-MM-DD`. */
  issueDate: shownText,
  customNumber: shownText,
  description: shownText,
  customer: lenient(customerSchema),
  paymentLink: lenient(
    z.object({
      /** Whether the link accepts payments now. */
      enabled: z.boolean(),
      /** Hosted pay page. */
      url: shownText,
      expiresAt: lenient(serviceInstant),
    }),
  ),
  dashboardUrl: shownText,
  items: z
    .array(
      z.object({
        name: shownText,
        description: shownText,
        quantity: lenient(z.number()),
        unitAmountCents: lenient(cents),
        totalCents: lenient(cents),
      }),
    )
    .catch([]),
});

export type Invoice = z.infer<typeof invoiceSchema>;

/**
 * An item of `GET /v1/invoices`, whose shape is not documented: all but the id may be undefined.
 */
export const invoiceListItemSchema = z.object({
  id,
  publicId: undocumented(longText),
  status: undocumented(openEnum<InvoiceStatus>()),
  paymentStatus: undocumented(openEnum<InvoicePaymentStatus>()),
  totalAmountCents: undocumented(cents),
  amountPaidCents: undocumented(cents),
  dueDate: undocumented(longText),
  customNumber: undocumented(longText),
  customer: undocumented(customerSchema),
});

export type InvoiceListItem = z.infer<typeof invoiceListItemSchema>;

export const invoicePageSchema = pageSchema(orUnreadable(invoiceListItemSchema));
