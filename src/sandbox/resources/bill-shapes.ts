import { z } from "zod";
import { dateShape } from "../http/shapes.ts";

/** What bills and invoices have in common (section 2): amounts, dates and texts. */
export const billFields = {
  totalAmountCents: z.int().min(1),
  amountPaidCents: z.int().min(0),
  remainingAmountCents: z.int(),
  dueDate: dateShape.nullable(),
  issueDate: dateShape.nullable(),
  customNumber: z.string().nullable(),
  description: z.string().nullable(),
};

/** The items of a bill or an invoice. */
export const itemsShape = z.array(
  z.object({
    name: z.string().nullable(),
    description: z.string().nullable(),
    quantity: z.number(),
    unitAmountCents: z.int(),
    totalCents: z.int(),
  }),
);

/** Returns the same fields of a row, as the sandbox stores bills and invoices. */
export function billJson(row: {
  readonly id: string;
  readonly public_id: string;
  readonly status: string;
  readonly payment_status: string;
  readonly total_cents: number;
  readonly paid_cents: number;
  readonly due_date: string | null;
  readonly issue_date: string | null;
  readonly custom_number: string | null;
  readonly description: string | null;
}): Record<string, unknown> {
  return {
    id: row.id,
    publicId: row.public_id,
    status: row.status,
    paymentStatus: row.payment_status,
    totalAmountCents: row.total_cents,
    amountPaidCents: row.paid_cents,
    remainingAmountCents: row.total_cents - row.paid_cents,
    dueDate: row.due_date,
    issueDate: row.issue_date,
    customNumber: row.custom_number,
    description: row.description,
  };
}
