import { z } from "zod";
import {
  UNREADABLE,
  amountCents,
  cents,
  id,
  lenient,
  nullable,
  openEnum,
  orUnreadable,
  pageSchema,
  type Partly,
  shownInList,
  shownText,
  undocumented,
} from "./common.ts";

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
  id: nullable(id),
  displayName: shownText,
});

const payableItemSchema = z.object({
  name: shownText,
  description: shownText,
  quantity: lenient(z.number()),
  unitAmountCents: lenient(cents),
  totalCents: lenient(cents),
});

/** PayableDetail (API specification, section 2). */
export const payableSchema = z.object({
  id,
  publicId: shownText,
  status: openEnum<PayableStatus>(),
  paymentStatus: openEnum<PayablePaymentStatus>().catch(UNREADABLE),
  totalAmountCents: amountCents,
  amountPaidCents: amountCents,
  /** What the service reports as left; payments on their way are not subtracted. */
  remainingAmountCents: lenient(cents),
  /** `YYYY-MM-DD`, if the service keeps to that. */
  dueDate: shownText,
  /** `YYYY-MM-DD`. */
  issueDate: shownText,
  customNumber: shownText,
  description: shownText,
  contact: payableContactSchema
    .nullish()
    .transform((contact) => contact ?? { id: null, displayName: null }),
  items: z.array(payableItemSchema).catch([]),
});

export type Payable = z.infer<typeof payableSchema>;

/** A payable, however much of it can be read. */
export const partlyPayableSchema = orUnreadable(
  payableSchema,
  {},
  { status: UNREADABLE, totalAmountCents: 0, amountPaidCents: 0 },
);

/**
 * An item of `GET /v1/payables`, whose shape is not documented: all but the id may be undefined,
 * which means "not in the list, read the payable itself".
 */
export const payableListItemSchema = z.object({
  id,
  publicId: shownInList,
  status: undocumented(openEnum<PayableStatus>()),
  paymentStatus: openEnum<PayablePaymentStatus>().nullish().catch(UNREADABLE),
  totalAmountCents: undocumented(amountCents),
  amountPaidCents: undocumented(amountCents),
  remainingAmountCents: undocumented(cents),
  dueDate: shownInList,
  issueDate: shownInList,
  customNumber: shownInList,
  description: shownInList,
  contact: undocumented(payableContactSchema),
});

export type PayableListItem = z.infer<typeof payableListItemSchema> & Partly;

export const payablePageSchema = pageSchema(orUnreadable(payableListItemSchema));
