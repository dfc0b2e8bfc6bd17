import { isDate } from "../src/domain/clock/dates.ts";
import {
  type BillBook,
  type BillFacts,
  makeBook,
  type PaymentFacts,
  type VendorFacts,
} from "../src/domain/planning/book.ts";
import {
  type Payable,
  type PayableListItem,
  type PaymentsClient,
} from "../src/payments-api/index.ts";
import { PATIENT } from "./patient.ts";
import { unlessMissing } from "./unless-missing.ts";

/** Payables that are read one by one at a time, where the list leaves something out. */
const SINGLE_READS = 10;

/**
 * Reads everything a plan is made of, by page, into compact records.
 *
 * Payments are read before payables: one made in between then shows as owed too little, never too
 * much. No status filter anywhere, so that every bill is accounted for.
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
    for (const { payableId, contactId, status, amountCents } of page) {
      payments.push({ payableId, contactId, status, amountCents });
    }
  }
  return payments;
}

async function readPayables(client: PaymentsClient): Promise<BillFacts[]> {
  const bills: BillFacts[] = [];
  const incomplete: string[] = [];
  for await (const page of client.payables.iteratePages({}, PATIENT)) {
    for (const item of page) {
      const bill = ofListItem(item);
      if (bill === undefined) incomplete.push(item.id);
      else bills.push(bill);
    }
  }
  // The shape of list items is not shown (API specification, section 4): read what is missing.
  for (let start = 0; start < incomplete.length; start += SINGLE_READS) {
    const ids = incomplete.slice(start, start + SINGLE_READS);
    const payables = await Promise.all(
      ids.map((id) => unlessMissing(() => client.payables.get(id, PATIENT))),
    );
    // A list may still show a bill that is gone.
    bills.push(...payables.filter((payable) => payable !== null).map(ofPayable));
  }
  return bills;
}

async function readVendors(client: PaymentsClient): Promise<VendorFacts[]> {
  const vendors: VendorFacts[] = [];
  for await (const page of client.contacts.iteratePages({}, PATIENT)) {
    for (const contact of page) {
      vendors.push({
        contactId: contact.id,
        name: contact.displayName,
        type: contact.type,
        status: contact.status,
        paymentReady: contact.paymentReady,
        bankLast4: contact.bankAccount?.last4 ?? null,
        updatedAt: contact.updatedAt,
        netTerms: contact.netTerms,
      });
    }
  }
  return vendors;
}

/** Undefined where the list does not tell what a decision about money needs. */
function ofListItem(item: PayableListItem): BillFacts | undefined {
  const { status, totalAmountCents, amountPaidCents, dueDate, contact } = item;
  if (status === undefined || status === null || dueDate === undefined) return undefined;
  if (typeof totalAmountCents !== "number" || typeof amountPaidCents !== "number") return undefined;
  if (contact === undefined) return undefined;
  return {
    payableId: item.id,
    publicId: item.publicId ?? null,
    status,
    paymentStatus: item.paymentStatus ?? "",
    totalCents: totalAmountCents,
    amountPaidCents,
    dueDate: dateOrNull(dueDate),
    issueDate: dateOrNull(item.issueDate),
    customNumber: item.customNumber ?? null,
    description: item.description ?? null,
    contactId: contact?.id ?? null,
    contactName: contact?.displayName ?? null,
  };
}

function ofPayable(payable: Payable): BillFacts {
  return {
    payableId: payable.id,
    publicId: payable.publicId,
    status: payable.status,
    paymentStatus: payable.paymentStatus,
    totalCents: payable.totalAmountCents,
    amountPaidCents: payable.amountPaidCents,
    dueDate: dateOrNull(payable.dueDate),
    issueDate: dateOrNull(payable.issueDate),
    customNumber: payable.customNumber,
    description: payable.description,
    contactId: payable.contact.id,
    contactName: payable.contact.displayName,
  };
}

/** A plain date, also where a service writes a time behind it. */
function dateOrNull(text: string | null | undefined): string | null {
  const [date = ""] = (text ?? "").split("T");
  return isDate(date) ? date : null;
}
