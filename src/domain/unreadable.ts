/**
 * A field of the service's record that is not as documented (an amount that is no whole number of
 * cents, a date of the year 26). Where it decides about money, nothing is paid by it.
 */
export type Unreadable = Readonly<Record<string, string>>;

const WORDS: Readonly<Record<string, string>> = {
  totalAmountCents: "amount",
  amountPaidCents: "amount paid",
  amountCents: "amount",
  contact: "vendor",
  contactId: "vendor",
  payableId: "bill",
  dueDate: "due date",
  bankAccount: "bank account",
  bankAccountId: "bank account",
  paymentRail: "rail",
  paymentReady: "readiness to be paid",
  updatedAt: "date of change",
};

/** Says what can't be read of a record, with what came: `its amount can't be read (12.5)`. */
export function unreadableText(fields: Unreadable): string {
  return Object.entries(fields)
    .map(([field, came]) => `its ${WORDS[field] ?? field} can't be read (${came})`)
    .join(", ");
}

/** A payment that can't be read: it may be on its way, and pay any bill if it names none. */
export interface UnreadablePayment {
  /** The account that it debits; null if it names none, or can't be read: then it may be any. */
  readonly accountId: string | null;
  /** Says what can't be read. */
  readonly text: string;
}

/** True if such a payment may be from one of these accounts. */
export function mayBeFrom(
  { accountId }: UnreadablePayment,
  accounts: readonly (string | null | undefined)[],
): boolean {
  return accountId === null || accounts.includes(accountId);
}

/** Says why a bill with such a payment is not paid. */
export function unreadablePaymentText(id: string, fields: Unreadable): string {
  return `Payment ${id} may be on its way, and ${unreadableText(fields)}. Have it corrected in the service; then Payrun goes on.`;
}
