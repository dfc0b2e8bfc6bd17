import { newYorkDate } from "../../../src/domain/clock/new-york.ts";
import type { OverSum } from "../company/playbooks.ts";
import { type Payment, stands } from "../service/book.ts";
import { OWNERS, playbookOf, type Word } from "./approval-rules.ts";
import type { PaySend } from "./store-facts.ts";
import { Violation } from "./violation.ts";
import { weekOf } from "./weeks.ts";

/**
 * No payment passes a rule's sum of what its vendor is paid without the approval that the rule asks
 * for: counted is what the bank has accepted by then, and what was let through before.
 */
export class SumRules {
  readonly #word: Word;
  #seen = 0;

  constructor(word: Word) {
    this.#word = word;
  }

  /** Called when sends are written. @throws Violation */
  check(): void {
    for (const send of this.#word.facts.paysAfter(this.#seen)) {
      this.#seen = send.rowNo;
      const over = this.#word.paying.ownerOverSums.get(playbookOf(send.runId));
      if (over !== undefined) this.#check(send, over);
    }
  }

  #check(send: PaySend, over: OverSum): void {
    const { subject, contactId, amountCents } = send;
    const sumCents = amountCents + this.#besidesCents(send, over.per);
    if (sumCents <= over.cents || this.#isOwners(send)) return;
    const what = `${subject} was let through, with which ${contactId} gets ${sumCents} cents, and above ${over.cents} per ${over.per} the owner has to approve it`;
    throw new Violation("sums-as-approved", what, subject);
  }

  /** Returns what else the vendor is paid: each bill by what stands of it or may still leave. */
  #besidesCents(send: PaySend, per: OverSum["per"]): number {
    const { book, facts } = this.#word;
    const standing = book.payments.filter(
      (payment) =>
        payment.key !== null &&
        payment.contactId === send.contactId &&
        stands(payment) &&
        this.#isAddedUp(payment, send, per),
    );
    const leaving = facts
      .leavingBefore(send.rowNo)
      .filter((other) => other.contactId === send.contactId && other.subject !== send.subject)
      .filter((other) =>
        per === "vendor"
          ? other.runId === send.runId
          : weekOf(other.executionDate) === weekOf(send.executionDate),
      );
    const cents = new Map<string, number>();
    for (const { payableId, amountCents } of standing) {
      cents.set(payableId, (cents.get(payableId) ?? 0) + amountCents);
    }
    for (const { subject, amountCents } of leaving) {
      cents.set(subject, Math.max(cents.get(subject) ?? 0, amountCents));
    }
    // The bill itself counts by what is sent now: its earlier parts are in its total.
    cents.delete(send.subject);
    return [...cents.values()].reduce((sum, each) => sum + each, 0);
  }

  #isAddedUp({ scheduledMs, key }: Payment, send: PaySend, per: OverSum["per"]): boolean {
    if (per === "vendor-week") {
      return weekOf(newYorkDate(scheduledMs)) === weekOf(send.executionDate);
    }
    return this.#word.facts.runOfKey(key ?? "") === send.runId;
  }

  #isOwners({ subject, runId, amountCents }: PaySend): boolean {
    return [...this.#word.said.approvals].some(
      (said) =>
        said.runId === runId &&
        OWNERS.includes(said.who) &&
        said.cents.get(subject) === amountCents,
    );
  }
}
