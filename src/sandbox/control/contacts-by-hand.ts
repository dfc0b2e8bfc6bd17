import { z } from "zod";
import type { SandboxContext } from "../context.ts";
import { invalid, objectNotFound } from "../http/api-error.ts";
import { rememberAccountNumber } from "../payments/magic.ts";
import { contactBankAccount, updateContact } from "../resources/contact-operations.ts";
import { contactById, contactJson, type ContactRow } from "../resources/contacts.ts";

export const contactChange = z.strictObject({
  displayName: z.string().nullable().optional(),
  status: z.enum(["active", "archived", "revoked"]).optional(),
  paymentDirection: z.enum(["bidirectional", "can_pay", "can_be_paid", "none"]).optional(),
  emails: z.array(z.string()).max(5).optional(),
  phone: z.string().nullable().optional(),
  bankAccount: z
    .strictObject({
      ...contactBankAccount.partial().shape,
      last4: z
        .string()
        .regex(/^\d{4}$/, { error: "must be four digits" })
        .optional(),
    })
    .nullable()
    .optional(),
});

/** Changes a contact as its owner would, including its bank account. */
export function changeContactByHand(
  ctx: SandboxContext,
  id: string,
  body: z.infer<typeof contactChange>,
): Record<string, unknown> {
  const contact = contactById(ctx.db, id);
  if (contact === undefined) throw objectNotFound("Contact");
  const bankLast4 = last4Of(body.bankAccount);
  const nowMs = ctx.clock.bankNow();
  if (bankLast4 !== undefined) rememberAccountNumber(ctx.db, id, numberOf(body.bankAccount));
  const status = body.status === contact.status ? undefined : body.status;
  const changes = {
    ...(body.displayName !== undefined && { display_name: body.displayName }),
    ...(status !== undefined && {
      status,
      archived_at: status === "archived" ? nowMs : null,
    }),
    ...(body.emails !== undefined && { emails: JSON.stringify(body.emails) }),
    ...(body.phone !== undefined && { phone: body.phone }),
    ...(bankLast4 !== undefined && {
      bank_last4: bankLast4,
      payment_direction: directionWith(contact.payment_direction, bankLast4 !== null),
    }),
    ...(body.paymentDirection !== undefined && { payment_direction: body.paymentDirection }),
  };
  return contactJson(updateContact(ctx, contact, changes, eventOf(contact, status)));
}

/**
 * Returns the event of a change. Section 6 has no type of its own for a contact whose access was
 * revoked.
 */
function eventOf(contact: ContactRow, status: string | undefined): string {
  if (status === "archived") return "contact.archived";
  if (status === "active" && contact.status === "archived") return "contact.unarchived";
  return "contact.updated";
}

type ChangedAccount = z.infer<typeof contactChange>["bankAccount"];

function numberOf(account: ChangedAccount): string | null {
  return account?.accountNumber ?? null;
}

function last4Of(account: ChangedAccount): string | null | undefined {
  if (account === undefined || account === null) return account;
  const last4 = account.accountNumber?.slice(-4) ?? account.last4;
  if (last4 === undefined) throw invalid("bankAccount", "bankAccount needs accountNumber or last4");
  return last4;
}

function directionWith(direction: string, hasAccount: boolean): string {
  if (hasAccount && direction === "none") return "can_be_paid";
  return !hasAccount && direction === "can_be_paid" ? "none" : direction;
}
