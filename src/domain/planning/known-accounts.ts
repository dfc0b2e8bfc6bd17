import type { PlanLine } from "../../contracts/pay-run.ts";
import { addBankingDays } from "../clock/bank-calendar.ts";
import { addDays } from "../clock/dates.ts";
import { newYorkDate, newYorkInstantMs } from "../clock/new-york.ts";
import { type BillBook, hasReached, type PaymentFacts, type VendorFacts } from "./book.ts";

/** A payment to a wrong account comes back within two banking days (Nacha's rules). */
const COMES_BACK_DAYS = 2;

/** The account that payments of a run proved to be the vendor's, as their line had it. */
export interface KnownAccount extends Pick<PlanLine, "bankLast4" | "record"> {
  readonly paymentIds: readonly string[];
}

/** Returns the instant before which a payment must have settled to prove its account. */
function provenBeforeMs(nowMs: number): number {
  const day = addBankingDays(newYorkDate(nowMs), -COMES_BACK_DAYS);
  return newYorkInstantMs(addDays(day, 1), "00:00");
}

/** Returns the test for payments that have proved the account that they went to. */
export function provesAccount(nowMs: number): (payment: PaymentFacts) => boolean {
  const beforeMs = provenBeforeMs(nowMs);
  return (payment) =>
    hasReached(payment) && payment.settledMs !== null && payment.settledMs < beforeMs;
}

/** What the settled payments to a vendor prove, whoever made them. */
export interface Proof {
  /** True if one proved an account of the vendor. */
  readonly ofAny: boolean;
  /**
   * True if one proved the present account: the record hasn't changed since it was made, and no run
   * has paid another account since.
   */
  readonly ofPresent: boolean;
}

/** Returns what the payments to a vendor prove; each vendor's payments are looked at once. */
export function proofsIn(
  book: BillBook,
  nowMs: number,
  known: ReadonlyMap<string, KnownAccount>,
): (vendor: VendorFacts) => Proof {
  const proves = provesAccount(nowMs);
  const found = new Map<string, Proof>();
  return ({ contactId, bankLast4, record: { updatedAt } }) => {
    const before = found.get(contactId);
    if (before !== undefined) return before;
    const changedMs = updatedAt === null ? -Infinity : Date.parse(updatedAt);
    const proofs = book.settledTo(contactId).filter(proves);
    const run = known.get(contactId);
    const isOther = run !== undefined && run.bankLast4 !== bankLast4;
    const otherPaidMs = isOther ? lastMadeMs(proofs, run) : -Infinity;
    const ofPresent =
      !(isOther && updatedAt === null) &&
      proofs.some(({ createdMs }) => {
        const madeMs = createdMs ?? -Infinity;
        return madeMs >= changedMs && (madeMs > otherPaidMs || !isOther);
      });
    const proof = { ofAny: proofs.length > 0, ofPresent };
    found.set(contactId, proof);
    return proof;
  };
}

/** Returns when the last of a run's payments was made; `Infinity` if the service doesn't say. */
function lastMadeMs(payments: readonly PaymentFacts[], { paymentIds }: KnownAccount): number {
  const made = paymentIds.map(
    (id) => payments.find((payment) => payment.id === id)?.createdMs ?? Infinity,
  );
  return Math.max(...made);
}
