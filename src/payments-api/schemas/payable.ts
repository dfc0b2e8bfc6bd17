import { z } from "zod";
import { cents, lenient, nullable, openEnum, pageOf, undocumented } from "./common.ts";

export type PayableStatus =
  | "draft"
  | "pending_approval"
  | "approved"
  | "declined"
  | "blocked"
  | "void"
  | (string & {});

type PayablePaymentStatus =
  | "none"
  | "scheduled"
  | "processing"
  | "settled"
  | "failed"
  | "clawback"
  | (string & {});

const payableContactSchema = z.object({
  id: nullable(z.string()),
  displayName: lenient(z.string()),
});

const payableItemSchema = z.object({
  name: lenient(z.string()),
  description: lenient(z.string()),
  quantity: lenient(z.number()),
  unitAmountCents: lenient(cents),
  totalCents: lenient(cents),
});

/** PayableDetail (API specification, section 2). */
export const payableSchema = z.object({
  id: z.string().min(1),
  publicId: lenient(z.string()),
  status: openEnum<PayableStatus>(),
  paymentStatus: openEnum<PayablePaymentStatus>(),
  totalAmountCents: cents,
  amountPaidCents: cents,
  /** What the service reports as left; payments on their way are not subtracted. */
  remainingAmountCents: lenient(cents),
  /** `YYYY-MM-DD`. */
  dueDate: nullable(z.string()),
  /** `YYYY-MM-DD`. */
  issueDate: lenient(z.string()),
  customNumber: lenient(z.string()),
  description: lenient(z.string()),
  contact: payableContactSchema
    .nullish()
    .transform((contact) => contact ?? { id: null, displayName: null }),
  items: z.array(payableItemSchema).catch([]),
});

export type Payable = z.infer<typeof payableSchema>;

/**
 * An item of `GET /v1/payables`, whose shape is not documented: all but the id may be undefined,
 * which means "not in the list, read the payable itself".
 */
export const payableListItemSchema = z.object({
  id: z.string().min(1),
  publicId: undocumented(z.string()),
  status: undocumented(openEnum<PayableStatus>()),
  paymentStatus: undocumented(openEnum<PayablePaymentStatus>()),
  totalAmountCents: undocumented(cents),
  amountPaidCents: undocumented(cents),
  remainingAmountCents: undocumented(cents),
  dueDate: undocumented(z.string()),
  issueDate: undocumented(z.string()),
  customNumber: undocumented(z.string()),
  description: undocumented(z.string()),
  contact: undocumented(payableContactSchema),
});

export type PayableListItem = z.infer<typeof payableListItemSchema>;

export const payablePageSchema = pageOf(payableListItemSchema);
