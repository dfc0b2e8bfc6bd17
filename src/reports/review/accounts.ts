import type { RunReview } from "../../api/review.ts";
import type { LineState, PlanLine, PlanSummary } from "../../contracts/pay-run.ts";
import { NOTHING, plus } from "../../domain/approvals/share.ts";
import type { BillSum } from "../../domain/counted.ts";

type Account = RunReview["accounts"][number];

/** States of lines that take nothing from their account. */
const TAKES_NOTHING: readonly LineState[] = [
  "skipped",
  "cancelled",
  "paid-elsewhere",
  "given-up",
  "refunded",
];

/** Money before and after, by the account that the bills are paid from. */
export class AccountSums {
  readonly #summary: PlanSummary | undefined;
  readonly #accounts = new Map<string, Account>();

  constructor(summary: PlanSummary | undefined) {
    this.#summary = summary;
  }

  add({ funding, overLimit }: PlanLine, state: LineState, bills: BillSum): void {
    if (overLimit !== null || TAKES_NOTHING.includes(state)) return;
    const { sourceId, kind, name, last4 } = funding;
    const known = this.#accounts.get(sourceId);
    this.#accounts.set(sourceId, {
      ...{ sourceId, kind, name, last4 },
      bills: plus(known?.bills ?? NOTHING, bills),
      ...this.#before(sourceId),
      afterCents: null,
    });
  }

  all(): readonly Account[] {
    return [...this.#accounts.values()].map((account) => ({
      ...account,
      afterCents:
        account.availableCents === null
          ? null
          : account.availableCents - (account.promisedCents ?? 0) - account.bills.cents,
    }));
  }

  /** Without its money: what there was when it was planned says nothing once all is decided. */
  bare(): readonly Account[] {
    const untold = { availableCents: null, promisedCents: null, afterCents: null };
    return [...this.#accounts.values()].map((account) => ({ ...account, ...untold }));
  }

  /** Only of the account that the plan was made for is it known what it has. */
  #before(sourceId: string): Pick<Account, "availableCents" | "promisedCents"> {
    const summary = this.#summary;
    if (summary?.source?.sourceId !== sourceId || summary.availableCents === null) {
      return { availableCents: null, promisedCents: null };
    }
    return { availableCents: summary.availableCents, promisedCents: summary.reservedCents };
  }
}
