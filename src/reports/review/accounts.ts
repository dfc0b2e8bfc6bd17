import type { RunReview } from "../../api/review.ts";
import type { LineState, PlanLine, PlanSummary } from "../../contracts/pay-run.ts";
import { NOTHING, plus } from "../../domain/approvals/share.ts";
import type { BillSum } from "../../domain/counted.ts";
import { sumCents } from "../../domain/money.ts";
import type { TopUp } from "../../store/deposits/deposits.ts";

type Account = RunReview["accounts"][number];
type Before = Pick<
  Account,
  "availableCents" | "promisedCents" | "depositedCents" | "onItsWayCents"
>;
type MadeTopUp = Pick<TopUp, "sourceId" | "state" | "amountCents">;

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
  readonly #topUps: readonly MadeTopUp[];
  readonly #accounts = new Map<string, Account>();
  /** What has been decided already, of all accounts. */
  #decidedCents = 0;

  /** @param topUps that the run has asked for */
  constructor(summary: PlanSummary | undefined, topUps: readonly MadeTopUp[]) {
    this.#summary = summary;
    this.#topUps = topUps;
  }

  /** @param isOpen true of bills that wait for an approval */
  add({ funding, overLimit }: PlanLine, state: LineState, bills: BillSum, isOpen: boolean): void {
    if (overLimit !== null || TAKES_NOTHING.includes(state)) return;
    if (!isOpen) this.#decidedCents += bills.cents;
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
          : account.availableCents +
            (account.depositedCents ?? 0) -
            (account.promisedCents ?? 0) -
            account.bills.cents,
    }));
  }

  /**
   * What is left now for bills that are not decided yet; null unless it is known of all accounts.
   */
  leftCents(): number | null {
    const accounts = [...this.#accounts.values()];
    if (accounts.some(({ availableCents }) => availableCents === null)) return null;
    const has = (account: Account): number => {
      const { availableCents, promisedCents, depositedCents = 0, onItsWayCents = 0 } = account;
      return (availableCents ?? 0) - (promisedCents ?? 0) + depositedCents - onItsWayCents;
    };
    return accounts.reduce((sum, account) => sum + has(account), -this.#decidedCents);
  }

  /** Without its money: what there was when it was planned says nothing once all is decided. */
  bare(): readonly Account[] {
    const untold = { availableCents: null, promisedCents: null, afterCents: null };
    return [...this.#accounts.values()].map(
      ({ depositedCents: _, onItsWayCents: __, ...account }) => ({ ...account, ...untold }),
    );
  }

  /** Only of the account that the plan was made for is it known what it has. */
  #before(sourceId: string): Before {
    const summary = this.#summary;
    if (summary?.source?.sourceId !== sourceId || summary.availableCents === null) {
      return { availableCents: null, promisedCents: null };
    }
    const { availableCents, reservedCents: promisedCents } = summary;
    return { availableCents, promisedCents, ...this.#depositedTo(sourceId) };
  }

  /** A plan knows nothing of what was deposited for it since. */
  #depositedTo(sourceId: string): Pick<Account, "depositedCents" | "onItsWayCents"> {
    const sumIn = (state: TopUp["state"]): number =>
      sumCents(
        this.#topUps
          .filter((topUp) => topUp.sourceId === sourceId && topUp.state === state)
          .map(({ amountCents }) => amountCents),
      );
    const [arrived, onItsWayCents] = [sumIn("completed"), sumIn("on-its-way")];
    if (arrived + onItsWayCents === 0) return {};
    return { depositedCents: arrived + onItsWayCents, onItsWayCents };
  }
}
