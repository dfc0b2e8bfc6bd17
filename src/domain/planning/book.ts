import type { VendorRecord } from "../../contracts/pay-run.ts";
import type { PaymentAmount } from "../payments/owed.ts";
import { reachesAccount } from "../payments/rails.ts";
import type { Unreadable, UnreadablePayment } from "../unreadable.ts";

/** The facts of a bill that planning needs (API specification, section 2, PayableDetail). */
export interface BillFacts {
  readonly payableId: string;
  readonly publicId: string | null;
  readonly status: string;
  readonly paymentStatus: string;
  readonly totalCents: number;
  readonly amountPaidCents: number;
  /** `YYYY-MM-DD` or null; another text is unreadable. */
  readonly dueDate: string | null;
  readonly issueDate: string | null;
  readonly customNumber: string | null;
  readonly description: string | null;
  readonly contactId: string | null;
  readonly contactName: string | null;
  /** Fields that may decide about its money; set if there are any. */
  readonly unreadable?: Unreadable;
}

/** The facts of a vendor that planning needs (API specification, section 2, Contact). */
export interface VendorFacts {
  readonly contactId: string;
  readonly name: string | null;
  readonly type: string | null;
  readonly status: string;
  readonly paymentReady: boolean;
  readonly bankLast4: string | null;
  readonly record: VendorRecord;
  readonly netTerms: number | null;
  readonly unreadable?: Unreadable;
}

/**
 * The facts of a payment that planning needs; all payments of all bills, external ones included.
 */
export interface PaymentFacts extends PaymentAmount {
  readonly id: string;
  /** Business-clock instants; null if the service doesn't say. */
  readonly createdMs: number | null;
  /** Of a completed payment. */
  readonly settledMs: number | null;
  readonly payableId: string | null;
  readonly contactId: string | null;
  readonly rail: string | null;
  readonly failureReason: string | null;
  /** Set if its terms can't be read: it may be on its way. */
  readonly unreadable?: UnreadablePayment;
}

/**
 * All bills, vendors and payments of a business, indexed once so that planning takes linear time.
 */
export interface BillBook {
  readonly bills: readonly BillFacts[];
  readonly vendors: ReadonlyMap<string, VendorFacts>;
  readonly paymentsOf: (payableId: string) => readonly PaymentFacts[];
  /** All payments that have settled in this contact's bank account. */
  readonly settledTo: (contactId: string) => readonly PaymentFacts[];
  /** Payments that can't be read and name no bill: each may pay any bill from its account. */
  readonly unnamed: readonly UnreadablePayment[];
}

const NO_PAYMENTS: readonly PaymentFacts[] = [];

export function makeBook(
  bills: readonly BillFacts[],
  vendors: readonly VendorFacts[],
  payments: readonly PaymentFacts[],
): BillBook {
  const paymentsByBill = new Map<string, PaymentFacts[]>();
  const settledTo = new Map<string, PaymentFacts[]>();
  const unnamed: UnreadablePayment[] = [];
  for (const payment of payments) {
    if (payment.payableId === null && payment.unreadable) unnamed.push(payment.unreadable);
    if (payment.payableId !== null) push(paymentsByBill, payment.payableId, payment);
    if (payment.contactId !== null && hasReached(payment)) {
      push(settledTo, payment.contactId, payment);
    }
  }
  for (const bill of bills) {
    if (bill.contactId === null) continue;
    for (const payment of paymentsByBill.get(bill.payableId) ?? NO_PAYMENTS) {
      // The service need not say whom a payment went to: then its bill does.
      if (payment.contactId === null && hasReached(payment)) {
        push(settledTo, bill.contactId, payment);
      }
    }
  }
  return {
    bills,
    vendors: new Map(vendors.map((vendor) => [vendor.contactId, vendor])),
    paymentsOf: (payableId) => paymentsByBill.get(payableId) ?? NO_PAYMENTS,
    settledTo: (contactId) => settledTo.get(contactId) ?? NO_PAYMENTS,
    unnamed,
  };
}

/** True for a payment that has settled in a bank account. */
export function hasReached({ status, rail }: PaymentFacts): boolean {
  return status === "completed" && reachesAccount(rail);
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
