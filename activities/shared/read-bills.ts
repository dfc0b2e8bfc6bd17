import { instantOf } from "../../src/domain/clock/instants.ts";
import {
  type BillBook,
  type BillFacts,
  makeBook,
  type PaymentFacts,
  type VendorFacts,
} from "../../src/domain/planning/book.ts";
import {
  type Contact,
  type PayableListItem,
  type PaymentsClient,
  PaymentsApiError,
} from "../../src/payments-api/index.ts";
import { mayBePaid } from "../../src/domain/planning/select.ts";
import { type Unreadable, unreadablePaymentText } from "../../src/domain/unreadable.ts";
import { billFacts, vendorFacts, type WholeBill } from "./bill-facts.ts";
import { inGroups } from "./in-groups.ts";
import { KeptTexts } from "./kept-texts.ts";
import { unlessUnread } from "./one-read.ts";
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
  const texts = new KeptTexts();
  const payments = await readPayments(client, texts);
  const bills = await readPayables(client, texts);
  const vendors = await readVendors(client, texts);
  return makeBook(bills, vendors, payments);
}

async function readPayments(client: PaymentsClient, texts: KeptTexts): Promise<PaymentFacts[]> {
  const payments: PaymentFacts[] = [];
  for await (const page of client.payments.iteratePages({}, PATIENT)) {
    for (const payment of page) {
      const { id, payableId, contactId, status, amountCents, failureReason, unreadable } = payment;
      const settledAt = status === "completed" ? (payment.processedAt ?? payment.updatedAt) : null;
      const at = { createdMs: instantOf(payment.createdAt), settledMs: instantOf(settledAt) };
      const rail = payment.paymentRail;
      const facts = { id, payableId, contactId, rail, status, amountCents, failureReason, ...at };
      if (unreadable === undefined) payments.push(texts.in(facts));
      else {
        const text = unreadablePaymentText(id, unreadable);
        payments.push({ ...facts, unreadable: { accountId: payment.bankAccountId, text } });
      }
    }
  }
  return payments;
}

async function readPayables(client: PaymentsClient, texts: KeptTexts): Promise<BillFacts[]> {
  const bills: BillFacts[] = [];
  const incomplete: PayableListItem[] = [];
  const keep = (bill: BillFacts): void => void bills.push(texts.in(kept(bill)));
  for await (const page of client.payables.iteratePages({}, PATIENT)) {
    for (const item of page) {
      if (item.unreadable !== undefined) keep(unreadableBill(item, item.unreadable));
      else if (isWhole(item)) keep(billFacts(item));
      else incomplete.push(item);
    }
  }
  // The specification doesn't show the shape of list items (API specification, section 4), so what
  // is missing is read.
  const missing = await inGroups(incomplete, SINGLE_READS, (item) => readPayable(client, item));
  // A list may still show a bill that is gone.
  for (const bill of missing) if (bill !== null) keep(bill);
  return bills;
}

/** A business's past may be a million bills: they are only compared, by their numbers. */
function kept(bill: BillFacts): BillFacts {
  return mayBePaid(bill) ? bill : { ...bill, description: null };
}

function readPayable(client: PaymentsClient, item: PayableListItem): Promise<BillFacts | null> {
  const read = async (): Promise<BillFacts | null> => {
    const bill = await unlessMissing(() => client.payables.getPartly(item.id, PATIENT));
    if (bill === null) return null;
    return bill.unreadable === undefined
      ? billFacts(bill)
      : unreadableBill({ ...bill, id: item.id }, bill.unreadable);
  };
  return unlessUnread(client, read, (error) => {
    const reason = error instanceof Error ? error.message : String(error);
    return unreadableBill(item, { record: reason });
  });
}

/** Statuses whose vendors a list without a status leaves out, or may leave out. */
const LISTED_APART = ["archived", "revoked"] as const;

/** Reads every vendor: bills are compared with those of vendors that are no longer paid, too. */
async function readVendors(client: PaymentsClient, texts: KeptTexts): Promise<VendorFacts[]> {
  const vendors = new Map<string, VendorFacts>();
  for await (const page of client.contacts.iteratePages({}, PATIENT)) {
    for (const contact of page) vendors.set(contact.id, texts.in(vendorFacts(contact)));
  }
  for (const status of LISTED_APART) {
    for await (const page of pagesOf(client, status)) {
      const others = page.filter(({ id }) => !vendors.has(id));
      // The service leaves out none of them, or it doesn't know the filter.
      if (others.length === 0) break;
      for (const contact of others) {
        // Whatever else is shown of it: it isn't among those that are paid.
        const vendor = { ...vendorFacts(contact), status, paymentReady: false };
        vendors.set(contact.id, texts.in(vendor));
      }
    }
  }
  return [...vendors.values()];
}

/** Yields the vendors of a status; none if the service refuses to list them. */
async function* pagesOf(
  { contacts }: PaymentsClient,
  status: (typeof LISTED_APART)[number],
): AsyncGenerator<Contact[]> {
  try {
    yield* contacts.iteratePages({ status }, PATIENT);
  } catch (error) {
    const { status = 0 } = error instanceof PaymentsApiError ? error : {};
    if (status < 400 || status >= 500 || NO_REFUSAL_OF_FILTER.includes(status)) throw error;
  }
}

/** Answers that another list would get as well: the token, the time, the limit. */
const NO_REFUSAL_OF_FILTER: readonly number[] = [401, 408, 429];

/** False if the list doesn't show everything that a decision about money needs. */
function isWhole(item: PayableListItem): item is PayableListItem & WholeBill {
  const { status, totalAmountCents, amountPaidCents, dueDate, contact } = item;
  const isTold = status !== undefined && status !== null && dueDate !== undefined;
  const isCounted = typeof totalAmountCents === "number" && typeof amountPaidCents === "number";
  return isTold && isCounted && contact !== undefined;
}

/** Returns a bill that can't be paid as the service shows it, with what is known of it. */
function unreadableBill(bill: PayableListItem, unreadable: Unreadable): BillFacts {
  const { status, totalAmountCents, amountPaidCents, contact } = bill;
  const known = billFacts({
    ...bill,
    status: status ?? "",
    totalAmountCents: totalAmountCents ?? 0,
    amountPaidCents: amountPaidCents ?? 0,
    dueDate: bill.dueDate ?? null,
    contact: contact ?? null,
  });
  return { ...known, unreadable: { ...known.unreadable, ...unreadable } };
}
