import type { RunReview } from "../../api/review.ts";
import { LINE, type LineState } from "../../contracts/line-states.ts";
import type { PlanLine, PlanSummary } from "../../contracts/pay-run.ts";
import { type BillSum, NOTHING, plus } from "../../domain/counted.ts";
import { sumCents } from "../../domain/money.ts";
import type { TopUp } from "../../store/deposits/deposits.ts";
import type { MoneyNow } from "./money-now.ts";

type Account = RunReview["accounts"][number];
type Before = Pick<
  Account,
  "asOf" | "availableCents" | "promisedCents" | "depositedCents" | "onItsWayCents"
>;
type MadeTopUp = Pick<TopUp, "sourceId" | "state" | "amountCents">;

/** What is known about a plan's money, and the deposits requested since. */
export interface PlannedMoney {
  readonly summary: PlanSummary | undefined;
  /** Business-clock instant. */
  readonly plannedMs: number | undefined;
  /** Deposits that the run has asked for. */
  readonly topUps: readonly MadeTopUp[];
}

const UNTOLD = { availableCents: null, promisedCents: null };

/** A sum of bills, and how much of it is decided. */
interface Taking {
  readonly bills: BillSum;
  readonly decidedCents: number;
}

interface Sums extends Pick<Account, "sourceId" | "kind" | "name" | "last4"> {
  /** All bills that are paid from the account. */
  readonly all: Taking;
  /** Those of them that still take something from it. */
  readonly still: Taking;
}

/** The state of bills. */
interface Standing {
  readonly state: LineState;
  /** True for failed bills whose new payments have already left the account's current balance. */
  readonly isPaidAgain: boolean;
  /** True for bills that wait for an approval. */
  readonly isOpen: boolean;
}

const NO_BILLS: Taking = { bills: NOTHING, decidedCents: 0 };

/**
 * Money before and after, by the account that the bills are paid from: current if it could be read,
 * otherwise at planning time.
 */
export class AccountSums {
  readonly #planned: PlannedMoney;
  readonly #sums = new Map<string, Sums>();
  /** The accounts' current money; undefined if it could not be read. */
  now: MoneyNow | undefined;

  constructor(planned: PlannedMoney) {
    this.#planned = planned;
  }

  get sources(): readonly string[] {
    return [...this.#sums.keys()];
  }

  add(
    { funding, overLimit }: PlanLine,
    bills: BillSum,
    { state, isPaidAgain, isOpen }: Standing,
  ): void {
    if (overLimit !== null || LINE.takesNothing.includes(state)) return;
    const { sourceId, kind, name, last4 } = funding;
    const { all = NO_BILLS, still = NO_BILLS } = this.#sums.get(sourceId) ?? {};
    const and = (sum: Taking): Taking => ({
      bills: plus(sum.bills, bills),
      decidedCents: sum.decidedCents + (isOpen ? 0 : bills.cents),
    });
    this.#sums.set(sourceId, {
      sourceId,
      kind,
      name,
      last4,
      all: and(all),
      still: isPaidAgain || LINE.takesNoMore.includes(state) ? still : and(still),
    });
  }

  all(): readonly Account[] {
    return this.#taking().map(({ account, bills }) => {
      const before = this.#before(account.sourceId);
      const { availableCents, promisedCents, depositedCents = 0 } = before;
      const afterCents =
        availableCents === null
          ? null
          : availableCents + depositedCents - (promisedCents ?? 0) - bills.cents;
      return { ...account, bills, ...before, afterCents };
    });
  }

  /**
   * Returns what is left for bills that are not decided yet; null unless it is known of all
   * accounts.
   */
  leftCents(): number | null {
    let left = 0;
    for (const { account, decidedCents } of this.#taking()) {
      const before = this.#before(account.sourceId);
      const { availableCents, promisedCents, depositedCents = 0, onItsWayCents = 0 } = before;
      if (availableCents === null) return null;
      left += availableCents - (promisedCents ?? 0) + depositedCents - onItsWayCents - decidedCents;
    }
    return left;
  }

  /** Returns the accounts without their money: once all is decided, the balance says nothing. */
  bare(): readonly Account[] {
    return [...this.#sums.values()].map(({ all, still: _, ...account }) => ({
      ...account,
      bills: all.bills,
      ...UNTOLD,
      afterCents: null,
    }));
  }

  /**
   * Returns what is taken from which account: from its current balance, only what has not been
   * taken yet.
   */
  #taking() {
    return [...this.#sums.values()].flatMap(({ all, still, ...account }) => {
      const taking = this.now === undefined ? all : still;
      return taking.bills.count === 0 ? [] : [{ account, ...taking }];
    });
  }

  #before(sourceId: string): Before {
    const now = this.now?.get(sourceId);
    if (now === undefined) return this.#whenPlanned(sourceId);
    if (now.availableCents === null) return UNTOLD;
    // Deposits that have arrived are in it already.
    return { ...now, ...deposited(0, this.#depositsTo(sourceId, "on-its-way")) };
  }

  /**
   * Returns the money at planning time, which is known only for the account that the plan was made
   * for.
   */
  #whenPlanned(sourceId: string): Before {
    const { summary, plannedMs } = this.#planned;
    if (summary?.source?.sourceId !== sourceId || summary.availableCents === null) {
      return UNTOLD;
    }
    const { availableCents, reservedCents: promisedCents } = summary;
    const arrived = this.#depositsTo(sourceId, "completed");
    return {
      ...(plannedMs === undefined ? {} : { asOf: new Date(plannedMs).toISOString() }),
      availableCents,
      promisedCents,
      // A plan doesn't include what was deposited for it since.
      ...deposited(arrived, this.#depositsTo(sourceId, "on-its-way")),
    };
  }

  #depositsTo(sourceId: string, state: TopUp["state"]): number {
    const there = this.#planned.topUps.filter(
      (topUp) => topUp.sourceId === sourceId && topUp.state === state,
    );
    return sumCents(there.map(({ amountCents }) => amountCents));
  }
}

function deposited(
  arrivedCents: number,
  onItsWayCents: number,
): Pick<Account, "depositedCents" | "onItsWayCents"> {
  const depositedCents = arrivedCents + onItsWayCents;
  return depositedCents === 0 ? {} : { depositedCents, onItsWayCents };
}
