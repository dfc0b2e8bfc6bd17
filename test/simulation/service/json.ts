import type { Book, Contact, Payable, Payment, Transfer } from "./book.ts";

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

export function paymentJson(payment: Payment): object {
  return {
    id: payment.id,
    status: payment.status,
    amountCents: payment.amountCents,
    contactId: payment.contactId,
    payableId: payment.payableId,
    bankAccountId: payment.bankAccountId,
    paymentRail: payment.rail,
    scheduledAt: iso(payment.scheduledMs),
    processedAt: iso(payment.processedMs),
    failureReason: payment.failureReason,
    createdAt: iso(payment.createdMs),
    updatedAt: iso(payment.updatedMs),
  };
}

export function payableJson(book: Book, payable: Payable): object {
  const paidCents = book.paidCents(payable.id);
  return {
    id: payable.id,
    publicId: payable.id.toUpperCase(),
    status: payable.status,
    paymentStatus: book.paymentStatus(payable.id),
    totalAmountCents: payable.totalCents,
    amountPaidCents: paidCents,
    remainingAmountCents: payable.totalCents - paidCents,
    dueDate: payable.dueDate,
    issueDate: payable.issueDate,
    customNumber: null,
    description: null,
    contact: {
      id: payable.contactId,
      displayName: book.contacts.get(payable.contactId)?.displayName ?? null,
    },
    items: [],
  };
}

export function contactJson(contact: Contact): object {
  const { id, displayName, status, last4, updatedMs } = contact;
  return {
    id,
    type: "payee",
    status,
    displayName,
    emails: [],
    phone: null,
    paymentDirection: "can_be_paid",
    netTerms: null,
    bankAccount: last4 === null ? null : { last4 },
    taxInfo: null,
    paymentReady: last4 !== null && status === "active",
    createdAt: "2025-01-01T00:00:00.000Z",
    updatedAt: iso(updatedMs),
    archivedAt: null,
  };
}

export function transferJson(transfer: Transfer): object {
  const { id, status, amountCents, bankAccountId, createdMs, updatedMs, failureReason } = transfer;
  return {
    id,
    type: "deposit",
    status,
    amountCents,
    bankAccountId,
    failureReason,
    createdAt: iso(createdMs),
    updatedAt: iso(updatedMs),
  };
}
