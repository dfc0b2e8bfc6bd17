import { utcMsOfDate } from "../clock/dates.ts";
import type { PaymentAmount } from "../payments/owed.ts";

/** The facts of a bill that planning needs (API specification, section 2, PayableDetail). */
export interface BillFacts {
  readonly payableId: string;
  readonly publicId: string | null;
  readonly status: string;
  readonly paymentStatus: string;
  readonly totalCents: number;
  readonly amountPaidCents: number;
  /** `YYYY-MM-DD` or null; other texts were turned into null. */
  readonly dueDate: string | null;
  readonly issueDate: string | null;
  readonly customNumber: string | null;
  readonly description: string | null;
  readonly contactId: string | null;
  readonly contactName: string | null;
}

/** The facts of a vendor that planning needs (API specification, section 2, Contact). */
export interface VendorFacts {
  readonly contactId: string;
  readonly name: string | null;
  readonly type: string | null;
  readonly status: string;
  readonly paymentReady: boolean;
  readonly bankLast4: string | null;
  readonly updatedAt: string | null;
  readonly netTerms: number | null;
}

/**
 * The facts of a payment that planning needs; all payments of all bills, external ones included.
 */
export interface PaymentFacts extends PaymentAmount {
  readonly payableId: string | null;
  readonly contactId: string | null;
  readonly failureReason: string | null;
}

/**
 * All bills, vendors and payments of a business, indexed once so that planning takes linear time.
 */
export interface BillBook {
  readonly bills: readonly BillFacts[];
  readonly vendors: ReadonlyMap<string, VendorFacts>;
  readonly paymentsOf: (payableId: string) => readonly PaymentFacts[];
  /** True if a payment to this contact has ever settled. */
  readonly hasBeenPaid: (contactId: string) => boolean;
  /** Median total of the vendor's bills that were at least partly paid, without this one. */
  readonly medianPaidBillCents: (contactId: string, exceptPayableId: string) => number | null;
  /**
   * The bill of the same vendor and total with the nearest date, except void and declined ones. A
   * bill without a date counts as nearest, since dates can't tell the two apart.
   */
  readonly nearestTwin: (bill: BillFacts) => BillFacts | null;
}

const NO_PAYMENTS: readonly PaymentFacts[] = [];
const NO_LONGER_CLAIMED: ReadonlySet<string> = new Set(["void", "declined"]);

export function makeBook(
  bills: readonly BillFacts[],
  vendors: readonly VendorFacts[],
  payments: readonly PaymentFacts[],
): BillBook {
  const paymentsByBill = new Map<string, PaymentFacts[]>();
  const paidContacts = new Set<string>();
  for (const payment of payments) {
    if (payment.payableId !== null) push(paymentsByBill, payment.payableId, payment);
    if (payment.contactId !== null && payment.status === "completed") {
      paidContacts.add(payment.contactId);
    }
  }
  const twins = new Map<string, BillFacts[]>();
  const paidBills = new Map<string, BillFacts[]>();
  for (const bill of bills) {
    if (bill.contactId === null) continue;
    if (!NO_LONGER_CLAIMED.has(bill.status)) push(twins, twinKey(bill), bill);
    const settled = paymentsByBill
      .get(bill.payableId)
      ?.some((payment) => payment.status === "completed");
    if (settled === true) paidContacts.add(bill.contactId);
    if (settled === true || bill.amountPaidCents > 0) push(paidBills, bill.contactId, bill);
  }
  const medianOf = medians(paidBills);
  return {
    bills,
    vendors: new Map(vendors.map((vendor) => [vendor.contactId, vendor])),
    paymentsOf: (payableId) => paymentsByBill.get(payableId) ?? NO_PAYMENTS,
    hasBeenPaid: (contactId) => paidContacts.has(contactId),
    medianPaidBillCents: medianOf,
    nearestTwin: nearestTwins(twins),
  };
}

function twinKey(bill: BillFacts): string {
  return `${bill.totalCents} ${bill.contactId ?? ""}`;
}

/** Returns the date by which duplicates are compared. */
export function billDate(bill: BillFacts): string | null {
  return bill.issueDate ?? bill.dueDate;
}

/**
 * In a list sorted by date the nearest bill is a neighbor, so a thousand equal rents take linear
 * time.
 */
function nearestTwins(twins: ReadonlyMap<string, readonly BillFacts[]>): BillBook["nearestTwin"] {
  const ofGroup = new Map<string, ReadonlyMap<string, BillFacts>>();
  return (bill) => {
    const key = twinKey(bill);
    let nearest = ofGroup.get(key);
    if (nearest === undefined) {
      nearest = nearestInGroup(twins.get(key) ?? []);
      ofGroup.set(key, nearest);
    }
    return nearest.get(bill.payableId) ?? null;
  };
}

function nearestInGroup(group: readonly BillFacts[]): Map<string, BillFacts> {
  const undated = group.filter((bill) => billDate(bill) === null);
  const dated = group
    .map((bill) => ({ bill, day: billDate(bill) }))
    .flatMap(({ bill, day }) => (day === null ? [] : [{ bill, ms: utcMsOfDate(day) }]))
    .sort((a, b) => a.ms - b.ms);
  const nearest = new Map<string, BillFacts>();
  for (const bill of undated) {
    const other = dated[0]?.bill ?? undated.find(({ payableId }) => payableId !== bill.payableId);
    if (other !== undefined) nearest.set(bill.payableId, other);
  }
  for (const [index, { bill, ms }] of dated.entries()) {
    const before = dated[index - 1];
    const after = dated[index + 1];
    const closer =
      before !== undefined && (after === undefined || ms - before.ms <= after.ms - ms)
        ? before
        : after;
    const twin = undated[0] ?? closer?.bill;
    if (twin !== undefined) nearest.set(bill.payableId, twin);
  }
  return nearest;
}

/** Computes medians by vendor; each vendor's bills are sorted once. */
function medians(
  paidBills: ReadonlyMap<string, readonly BillFacts[]>,
): BillBook["medianPaidBillCents"] {
  const sortedByVendor = new Map<string, readonly BillFacts[]>();
  return (contactId, exceptPayableId) => {
    let sorted = sortedByVendor.get(contactId);
    if (sorted === undefined) {
      sorted = [...(paidBills.get(contactId) ?? [])].sort((a, b) => a.totalCents - b.totalCents);
      sortedByVendor.set(contactId, sorted);
    }
    const own = sorted.findIndex((bill) => bill.payableId === exceptPayableId);
    const count = sorted.length - (own < 0 ? 0 : 1);
    if (count === 0) return null;
    const at = (index: number) =>
      sorted[own >= 0 && index >= own ? index + 1 : index]?.totalCents ?? 0;
    const middle = Math.floor(count / 2);
    if (count % 2 === 1) return at(middle);
    return Math.round((at(middle - 1) + at(middle)) / 2);
  };
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
