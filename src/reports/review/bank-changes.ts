import type { RunReview } from "../../api/review.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import { bankChangeOf } from "../../domain/approvals/bank-changes.ts";
import { NOTHING, plus } from "../../domain/approvals/share.ts";
import type { BillSum } from "../../domain/counted.ts";

type BankChange = RunReview["bankChanges"][number];

/** Vendors whose bank account has changed, with the bills that would be paid to it. */
export class BankChanges {
  readonly #vendors = new Map<string, BankChange>();

  add(line: PlanLine, bills: BillSum): void {
    const change = bankChangeOf(line);
    if (change === undefined) return;
    const sum = plus(this.#vendors.get(change.contactId) ?? NOTHING, bills);
    this.#vendors.set(change.contactId, { ...change, ...sum });
  }

  all(): readonly BankChange[] {
    return [...this.#vendors.values()];
  }
}
