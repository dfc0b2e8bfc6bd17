import { sumCents } from "../money.ts";
import type { BillBook, BillFacts } from "./book.ts";
import { provesAccount } from "./known-accounts.ts";

/** Returns the median total of a vendor's paid bills, without one of them. */
export type UsualCents = (contactId: string, exceptPayableId: string) => number | null;

/**
 * Returns a business's usual amounts. Only bills count that were paid in full to a bank account, and
 * whose money has stayed there: anyone may enter a bill, or record that it was paid elsewhere. Each
 * vendor's bills are sorted once.
 */
export function usualAmounts(book: BillBook, nowMs: number): UsualCents {
  const proves = provesAccount(nowMs);
  const paidBills = new Map<string, BillFacts[]>();
  for (const bill of book.bills) {
    const { contactId, payableId, totalCents } = bill;
    if (contactId === null) continue;
    const settled = book.paymentsOf(payableId).filter(proves);
    if (settled.length === 0) continue;
    if (sumCents(settled.map(({ amountCents }) => amountCents)) < totalCents) continue;
    const before = paidBills.get(contactId);
    if (before === undefined) paidBills.set(contactId, [bill]);
    else before.push(bill);
  }
  const sortedByVendor = new Map<string, readonly BillFacts[]>();
  return (contactId, exceptPayableId) => {
    let sorted = sortedByVendor.get(contactId);
    if (sorted === undefined) {
      sorted = (paidBills.get(contactId) ?? []).toSorted((a, b) => a.totalCents - b.totalCents);
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
