import type { PayingHabits } from "../company/playbooks.ts";
import type { Accepted, Bank } from "../service/bank.ts";
import { newYorkDate } from "../../../src/domain/clock/new-york.ts";
import { type Book, type Payment, stands } from "../service/book.ts";
import type { StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";
import { weekOf } from "./weeks.ts";

/** Rules about the bank's ledger, checked at each acceptance. */
export class MoneyRules {
  readonly #bank: Bank;
  readonly #book: Book;
  readonly #facts: StoreFacts;
  readonly #limits: PayingHabits["limits"];

  constructor(bank: Bank, book: Book, facts: StoreFacts, limits: PayingHabits["limits"]) {
    this.#limits = limits;
    this.#bank = bank;
    this.#book = book;
    this.#facts = facts;
  }

  /**
   * @param hasForgotten true if the store was restored from a backup and can't count what it lost
   * @throws Violation
   */
  check(accepted: Accepted, hasForgotten: boolean): void {
    if (accepted.kind === "deposit") this.#depositedOnce(accepted, hasForgotten);
    if (accepted.kind !== "payment") return;
    this.#authorised(accepted, hasForgotten);
    if (!hasForgotten) this.#withinLimits(accepted);
  }

  /**
   * One deposit for one request, until the last one has come to nothing. A restored store counts
   * its requests anew: what people then approve with another amount is another request.
   */
  #depositedOnce({ key, amountCents }: Accepted, hasForgotten: boolean): void {
    const subject = this.#facts.sendsOfKey(key)[0]?.subject ?? "";
    const keys = new Set(this.#facts.sends(subject).map((send) => send.key));
    const made = this.#book.transfers.filter(
      (transfer) =>
        keys.has(transfer.key) &&
        !["failed", "returned"].includes(transfer.status) &&
        (!hasForgotten || transfer.amountCents === amountCents),
    );
    if (made.length <= 1) return;
    throw new Violation("deposited-once", `${made.length} deposits stand for ${subject}`, subject);
  }

  /**
   * No bill, vendor or business is paid more than the playbooks allow, by New York week for the
   * last two.
   */
  #withinLimits({ subject, paymentIds, amountCents }: Accepted): void {
    const { billCents, vendorPerWeekCents, businessPerWeekCents } = this.#limits;
    const made = this.#book.payments.find(({ id }) => id === paymentIds[0]);
    if (made === undefined) return;
    const atMost = (whose: string, cents: number, mostCents: number | undefined): void => {
      if (mostCents === undefined || cents <= mostCents) return;
      const what = `${usd(cents)} are to be paid to ${whose}, and ${usd(mostCents)} are allowed`;
      throw new Violation("within-limits", what, subject);
    };
    const week = weekOf(newYorkDate(made.scheduledMs));
    const ofWeek = this.#book.payments
      .filter(({ key }) => key !== null)
      .filter((payment) => stands(payment) && weekOf(newYorkDate(payment.scheduledMs)) === week);
    const ofVendor = ofWeek.filter(({ contactId }) => contactId === made.contactId);
    atMost(`${made.contactId} in the week of ${week}`, centsOf(ofVendor), vendorPerWeekCents);
    atMost(`all in the week of ${week}`, centsOf(ofWeek), businessPerWeekCents);
    atMost(subject, amountCents, billCents);
  }

  /** Never more than a payable's authorized total stands. */
  #authorised({ subject, request }: Accepted, hasForgotten: boolean): void {
    const ours = this.#book
      .paymentsOf(subject)
      .filter(({ key }) => key !== null)
      .filter(stands);
    const standingCents = ours.reduce((sum, { amountCents }) => sum + amountCents, 0);
    const approvedCents = this.#facts.approvedCents(subject);
    const totalCents = this.#book.mostCents(subject, 0);
    const keys = new Set(ours.map(({ key }) => key));
    if (standingCents > totalCents && keys.size > 1) {
      const sent = this.#bank.requests.filter(({ key }) => key !== null && keys.has(key)).length;
      throw new Violation(
        "paid-once",
        `${usd(standingCents)} stand for ${subject} of ${usd(totalCents)}, under ${keys.size} keys and ${sent} requests (the last was request ${request})`,
        subject,
      );
    }
    if (!hasForgotten && standingCents > approvedCents) {
      throw new Violation(
        "approved",
        `${usd(standingCents)} stand for ${subject}, and ${usd(approvedCents)} are approved`,
        subject,
      );
    }
  }
}

function centsOf(payments: readonly Payment[]): number {
  return payments.reduce((sum, { amountCents }) => sum + amountCents, 0);
}

function usd(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}
