import type { Book, Json, OtherContact, OtherPayable, OtherPayment } from "./book.ts";
import type { OtherServiceOptions } from "./options.ts";

/** Fields on every object that no specification knows; a tolerant reader ignores them. */
const EXTRA: Json = { _links: { self: "…" }, tenant: 7, labels: [] };

export function payableView(book: Book, payable: OtherPayable): Json {
  const amountPaidCents = book.amountPaidCents(payable);
  return {
    ...EXTRA,
    id: payable.id,
    publicId: null,
    status: payable.status,
    paymentStatus: amountPaidCents === 0 ? "none" : "partially_scheduled",
    totalAmountCents: payable.totalAmountCents,
    amountPaidCents,
    remainingAmountCents: payable.totalAmountCents - amountPaidCents,
    dueDate: payable.dueDate,
    issueDate: null,
    customNumber: null,
    description: null,
    contact: {
      id: payable.contactId,
      displayName: book.contacts.get(payable.contactId)?.displayName ?? null,
    },
    items: [{ name: null, description: null, quantity: 1.5, unitAmountCents: 1, totalCents: 1 }],
  };
}

export function payableItemView(
  book: Book,
  payable: OtherPayable,
  options: OtherServiceOptions,
): Json {
  if (options.payableListItems === "id-and-status") {
    return { id: payable.id, status: payable.status };
  }
  const { contact, items, ...rest } = payableView(book, payable);
  return options.payableListItems === "without-contact" ? rest : { ...rest, contact, items };
}

export function contactView(contact: OtherContact): Json {
  return {
    ...EXTRA,
    id: contact.id,
    type: "payee",
    status: "active",
    displayName: contact.displayName,
    emails: [],
    phone: null,
    paymentDirection: "receives_only",
    netTerms: 14.5,
    bankAccount: contact.bankLast4 === null ? null : { last4: contact.bankLast4, bank: "X" },
    taxInfo: null,
    paymentReady: contact.bankLast4 !== null,
    createdAt: "2026-01-05T09:00:00+01:00",
    updatedAt: contact.updatedAt,
    archivedAt: null,
  };
}

export function paymentView(payment: OtherPayment): Json {
  const { createdAtMs, ...rest } = payment;
  return { ...EXTRA, ...rest, createdAt: new Date(createdAtMs).toISOString() };
}

/** Returns payments as the answer of the write that made them shows them. */
export function madeView(payments: readonly OtherPayment[], options: OtherServiceOptions): Json[] {
  return payments.map((payment) => {
    const { payableId, ...rest } = paymentView(payment);
    return options.answersNamePayable ? { ...rest, payableId } : rest;
  });
}

export const BANK_ACCOUNTS: readonly Json[] = [
  bankAccount("bank-first", false),
  bankAccount("bank-main", true),
];

function bankAccount(id: string, isDefault: boolean): Json {
  return {
    ...EXTRA,
    id,
    status: "verified",
    type: "money_market",
    connectionType: "imported",
    name: null,
    institutionName: "Second Bank",
    accountNumberLast4: "4321",
    routingNumberLast4: null,
    isDefault,
    microDepositsInitiatedAt: null,
    microDepositsCompletedAt: null,
    verificationAttempts: 0,
  };
}

/** The specification does not show the values of `fundingSource`, so here it isn't the source's id. */
export const BALANCE_SOURCE = "operating/balance:2";

export function fundingSources(options: OtherServiceOptions): Json[] {
  const linked = {
    id: "linked_bank",
    rail: "SERVICE",
    kind: "linked_bank",
    name: "Linked",
    last4: "1111",
    availableCents: null,
    isDefault: false,
    canPay: false,
    unavailableReason: "weekend_maintenance",
    actionUrl: null,
    pay: { paymentRail: "SERVICE", fundingSource: "linked_bank" },
  };
  if (options.funding === "balance") {
    const balance = {
      ...linked,
      id: "balance",
      kind: "balance",
      name: "Operating balance",
      last4: null,
      isDefault: true,
      canPay: true,
      unavailableReason: null,
      pay: { paymentRail: "SERVICE", fundingSource: BALANCE_SOURCE },
    };
    return [balance, linked];
  }
  return ["bank-first", "bank-main"].map((id) => ({
    ...EXTRA,
    id,
    rail: "PROVIDER",
    kind: "bank",
    name: "Second Bank",
    last4: "4321",
    availableCents: null,
    isDefault: id === "bank-main",
    canPay: true,
    unavailableReason: null,
    actionUrl: null,
    pay: {
      paymentRail: "PROVIDER",
      ...(options.payNamesAccount ? { bankAccountId: id } : {}),
    },
  }));
}
