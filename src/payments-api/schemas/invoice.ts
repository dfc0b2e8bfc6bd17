import { z } from "zod";
import { cents, lenient, nullable, openEnum, pageOf, undocumented } from "./common.ts";

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
  id: nullable(z.string()),
  displayName: lenient(z.string()),
});

/** Invoice: a bill that the business sends (API specification, section 2). */
export const invoiceSchema = z.object({
  id: z.string().min(1),
  publicId: lenient(z.string()),
  status: openEnum<InvoiceStatus>(),
  paymentStatus: openEnum<InvoicePaymentStatus>(),
  totalAmountCents: cents,
  amountPaidCents: cents,
  remainingAmountCents: lenient(cents),
  /** `YYYY-MM-DD`. */
  dueDate: lenient(z.string()),
  /** `YYYY-MM-DD`. */
  issueDate: lenient(z.string()),
  customNumber: lenient(z.string()),
  description: lenient(z.string()),
  customer: lenient(customerSchema),
  paymentLink: lenient(
    z.object({
      /** Whether the link accepts payments now. */
      enabled: z.boolean(),
      /** Hosted pay page. */
      url: lenient(z.string()),
      expiresAt: lenient(z.string()),
    }),
  ),
  dashboardUrl: lenient(z.string()),
  items: z
    .array(
      z.object({
        name: lenient(z.string()),
        description: lenient(z.string()),
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
  id: z.string().min(1),
  publicId: undocumented(z.string()),
  status: undocumented(openEnum<InvoiceStatus>()),
  paymentStatus: undocumented(openEnum<InvoicePaymentStatus>()),
  totalAmountCents: undocumented(cents),
  amountPaidCents: undocumented(cents),
  dueDate: undocumented(z.string()),
  customNumber: undocumented(z.string()),
  customer: undocumented(customerSchema),
});

export type InvoiceListItem = z.infer<typeof invoiceListItemSchema>;

export const invoicePageSchema = pageOf(invoiceListItemSchema);
