import { isDate } from "../../src/domain/clock/dates.ts";
import {
  type BillBook,
  type BillFacts,
  makeBook,
  type PaymentFacts,
  type VendorFacts,
} from "../../src/domain/planning/book.ts";
import {
  type Contact,
  type Payable,
  type PayableListItem,
  type PaymentsClient,
} from "../../src/payments-api/index.ts";
import { inGroups } from "./in-groups.ts";
import { PATIENT } from "./patience.ts";
import { unlessMissing } from "./unless-missing.ts";

/** Payables that are read singly at the same time, if the list leaves something out. */
const SINGLE_READS = 10;

/**
 * Reads everything a plan is made of, by page, into compact records.
 *
 * Payments are read before payables: one made in between then shows too little as owed, never too
 * much. There is no status filter, so that every bill is accounted for.
 */
export async function readBills(client: PaymentsClient): Promise<BillBook> {
  const payments = await readPayments(client);
  const bills = await readPayables(client);
  const vendors = await readVendors(client);
  return makeBook(bills, vendors, payments);
}

async function readPayments(client: PaymentsClient): Promise<PaymentFacts[]> {
  const payments: PaymentFacts[] = [];
  for await (const page of client.payments.iteratePages({}, PATIENT)) {
    for (const { payableId, contactId, status, amountCents, failureReason = null } of page) {
      payments.push({ payableId, contactId, status, amountCents, failureReason });
    }
  }
  return payments;
}

async function readPayables(client: PaymentsClient): Promise<BillFacts[]> {
  const bills: BillFacts[] = [];
  const incomplete: string[] = [];
  for await (const page of client.payables.iteratePages({}, PATIENT)) {
    for (const item of page) {
      if (isWhole(item)) bills.push(billFacts(item));
      else incomplete.push(item.id);
    }
  }
  // The specification doesn't show the shape of list items (API specification, section 4), so what
  // is missing is read.
  const missing = await inGroups(incomplete, SINGLE_READS, (id) =>
    unlessMissing(() => client.payables.get(id, PATIENT)),
  );
  // A list may still show a bill that is gone.
  bills.push(...missing.filter((payable) => payable !== null).map(billFacts));
  return bills;
}

async function readVendors(client: PaymentsClient): Promise<VendorFacts[]> {
  const vendors: VendorFacts[] = [];
  for await (const page of client.contacts.iteratePages({}, PATIENT)) {
    vendors.push(...page.map(vendorFacts));
  }
  return vendors;
}

export function vendorFacts(contact: Contact): VendorFacts {
  const { id: contactId, displayName: name, type, status, paymentReady } = contact;
  const { bankAccount, updatedAt, netTerms } = contact;
  const bankLast4 = bankAccount?.last4 ?? null;
  return { contactId, name, type, status, paymentReady, bankLast4, updatedAt, netTerms };
}

/** What a decision about money needs of a bill. */
type WholeBill = Pick<Payable, "status" | "totalAmountCents" | "amountPaidCents"> & {
  readonly dueDate: string | null;
  readonly contact: Payable["contact"] | null;
};

/** False if the list doesn't show everything that a decision about money needs. */
function isWhole(item: PayableListItem): item is PayableListItem & WholeBill {
  const { status, totalAmountCents, amountPaidCents, dueDate, contact } = item;
  const isTold = status !== undefined && status !== null && dueDate !== undefined;
  const isCounted = typeof totalAmountCents === "number" && typeof amountPaidCents === "number";
  return isTold && isCounted && contact !== undefined;
}

export function billFacts(bill: PayableListItem & WholeBill): BillFacts {
  return {
    payableId: bill.id,
    publicId: bill.publicId ?? null,
    status: bill.status,
    paymentStatus: bill.paymentStatus ?? "",
    totalCents: bill.totalAmountCents,
    amountPaidCents: bill.amountPaidCents,
    dueDate: dateOrNull(bill.dueDate),
    issueDate: dateOrNull(bill.issueDate),
    customNumber: bill.customNumber ?? null,
    description: bill.description ?? null,
    contactId: bill.contact?.id ?? null,
    contactName: bill.contact?.displayName ?? null,
  };
}

/** Returns a plain date, even if a service writes a time after it. */
function dateOrNull(text: string | null | undefined): string | null {
  const [date = ""] = (text ?? "").split("T");
  return isDate(date) ? date : null;
}
