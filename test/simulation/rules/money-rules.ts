import type { Accepted, Bank } from "../service/bank.ts";
import type { Book } from "../service/book.ts";
import type { StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/** What holds at the bank, asked at each acceptance. */
export class MoneyRules {
  readonly #bank: Bank;
  readonly #book: Book;
  readonly #facts: StoreFacts;

  constructor(bank: Bank, book: Book, facts: StoreFacts) {
    this.#bank = bank;
    this.#book = book;
    this.#facts = facts;
  }

  /** @throws Violation */
  check(accepted: Accepted): void {
    if (accepted.kind !== "payment") return;
    this.#authorised(accepted);
  }

  /** Never more than a payable's authorised total stands. */
  #authorised({ subject, request }: Accepted): void {
    const ours = this.#book
      .paymentsOf(subject)
      .filter(({ key }) => key !== null)
      .filter(({ status }) => !["failed", "returned", "cancelled", "refunded"].includes(status));
    const standingCents = ours.reduce((sum, { amountCents }) => sum + amountCents, 0);
    const approvedCents = this.#facts.approvedCents(subject);
    const totalCents = this.#book.payables.get(subject)?.totalCents ?? 0;
    const keys = new Set(ours.map(({ key }) => key));
    if (standingCents > totalCents && keys.size > 1) {
      const sent = this.#bank.requests.filter(({ key }) => key !== null && keys.has(key)).length;
      throw new Violation(
        "paid-once",
        `${usd(standingCents)} stand for ${subject} of ${usd(totalCents)}, under ${keys.size} keys and ${sent} requests (the last was request ${request})`,
        subject,
      );
    }
    if (standingCents > approvedCents) {
      throw new Violation(
        "approved",
        `${usd(standingCents)} stand for ${subject}, and ${usd(approvedCents)} are approved`,
        subject,
      );
    }
  }
}

function usd(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}
