import type { RunReview } from "../../api/review.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import { bankChangeOf } from "../../domain/approvals/bank-changes.ts";
import { NOTHING, plus } from "../../domain/approvals/share.ts";

type BankChange = RunReview["bankChanges"][number];

/** Vendors whose bank account has changed, with the bills that would be paid to it. */
export class BankChanges {
  readonly #vendors = new Map<string, BankChange>();

  add(line: PlanLine, cents: number): void {
    const text = bankChangeOf(line);
    if (text === undefined) return;
    const { contactId, contactName } = line;
    const sum = plus(this.#vendors.get(contactId) ?? NOTHING, cents);
    this.#vendors.set(contactId, { contactId, contactName, text, ...sum });
  }

  all(): readonly BankChange[] {
    return [...this.#vendors.values()];
  }
}
