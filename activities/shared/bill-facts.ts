import { namedDay } from "../../src/domain/clock/named-day.ts";
import type { BillFacts, VendorFacts } from "../../src/domain/planning/book.ts";
import { recordOf } from "../../src/domain/vendor-account.ts";
import {
  type Contact,
  type Payable,
  type PayableListItem,
  shortened,
  UNREADABLE,
} from "../../src/payments-api/index.ts";

export function vendorFacts(contact: Contact): VendorFacts {
  const { id: contactId, displayName: name, type, status, paymentReady } = contact;
  const { bankAccount, netTerms, unreadable } = contact;
  const bankLast4 = bankAccount?.last4 ?? null;
  const record = recordOf(contact);
  const vendor = { contactId, name, type, status, paymentReady, bankLast4, record, netTerms };
  return unreadable === undefined ? vendor : { ...vendor, unreadable };
}

/** What a decision about money needs of a bill. */
export type WholeBill = Pick<Payable, "status" | "totalAmountCents" | "amountPaidCents"> & {
  readonly dueDate: string | null;
  readonly contact: Payable["contact"] | null;
};

export function billFacts(bill: PayableListItem & WholeBill): BillFacts {
  const dueDate = namedDay(bill.dueDate);
  const unreadable =
    dueDate === null && bill.dueDate !== null
      ? { unreadable: { dueDate: shortened(bill.dueDate) } }
      : {};
  return {
    payableId: bill.id,
    publicId: bill.publicId ?? null,
    status: bill.status,
    paymentStatus: bill.paymentStatus ?? "",
    totalCents: bill.totalAmountCents,
    amountPaidCents: bill.amountPaidCents,
    dueDate,
    issueDate: namedDay(bill.issueDate),
    // Bills whose number can't be read are not alike because of that.
    customNumber: bill.customNumber === UNREADABLE ? null : (bill.customNumber ?? null),
    description: bill.description ?? null,
    contactId: bill.contact?.id ?? null,
    contactName: bill.contact?.displayName ?? null,
    ...unreadable,
  };
}
