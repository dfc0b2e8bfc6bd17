import { settlementInstant } from "../../../src/sandbox/payments/banking-days.ts";
import type { Stream } from "../world/random.ts";
import type { World } from "../world/world.ts";
import type { BankClock } from "./bank-clock.ts";
import { BANK_RAIL, type Book, type Payment, stands, type Transfer } from "./book.ts";

/** How a payment ends. */
type Fate = {
  readonly status: "completed" | "failed" | "returned";
  readonly reason: string | null;
};

const NO_MONEY = "R01 insufficient funds";

const REASONS = [
  NO_MONEY,
  "R09 uncollected funds",
  "R02 account closed",
  "R03 no account",
  "R10 not authorized",
];

/** How payments go at this company's banks. */
interface Habits {
  /** Share of payments that fail or are returned. */
  readonly failures: number;
  /** Share of bills whose next payment has the same outcome again. */
  readonly sameAgain: number;
  /** Days for which the company's own bank account has no money. */
  readonly emptyDays: number;
  /** True if the service holds some payments for review before they run. */
  readonly reviews: boolean;
}

const HOUR_MS = 3_600_000;
const LONGEST_REVIEW_MS = 60 * HOUR_MS;

const DAY_MS = 86_400_000;

/** Moves payments and deposits through the network, by the bank's clock. */
export class Life {
  /** Called for each event that the service's webhooks report. */
  atEvent: ((type: string, object: string, id: string) => void) | undefined;
  readonly #world: World;
  readonly #book: Book;
  readonly #clock: BankClock;
  readonly #fates: Stream;
  readonly #deposits: Stream;
  readonly #reviewed: Stream;
  readonly #habits: Habits;
  /** Count of the bank's moves of payments that are still to come. */
  #coming = 0;
  #movedMs = 0;
  /** The outcome of the last payment of a bill, which often occurs again. */
  readonly #lastFates = new Map<string, Fate>();

  constructor(world: World, book: Book, clock: BankClock, habits: Habits) {
    this.#world = world;
    this.#book = book;
    this.#clock = clock;
    this.#fates = world.stream("fates");
    this.#habits = habits;
    this.#reviewed = world.stream("reviews");
    this.#deposits = world.stream("fates of deposits");
  }

  /** True if payments have ended long enough ago that the engine can know it. */
  isOver(seenWithinMs: number): boolean {
    return this.#coming === 0 && this.#world.nowMs - this.#movedMs > seenWithinMs;
  }

  begin(payment: Payment): void {
    const fate = this.#fateOf(payment);
    this.#event("payable.payment.scheduled", payment);
    this.#atBank(payment.scheduledMs + 2_000, () => {
      if (payment.status !== "scheduled" && payment.status !== "pending") return;
      if (!this.#habits.reviews || !this.#reviewed.chance(0.5)) {
        this.#run(payment, fate);
        return;
      }
      this.move(payment, "held");
      const reviewMs = this.#reviewed.stretched(HOUR_MS, LONGEST_REVIEW_MS);
      this.#moveAt(this.#clock.nowMs() + reviewMs, () => {
        if (payment.status === "held") this.#run(payment, fate);
      });
    });
  }

  /** Takes the money of a payment now, if it is there. */
  #run(payment: Payment, fate: Fate): void {
    if (this.#isShort(payment)) {
      this.move(payment, "failed", NO_MONEY);
      return;
    }
    this.move(payment, "processing");
    const settlesMs = settlementInstant(this.#clock.nowMs(), 1);
    this.#moveAt(settlesMs, () => this.#settle(payment, fate));
  }

  move(payment: Payment, status: string, reason: string | null = null): void {
    const { updatedMs, processedMs, failureReason } = payment;
    const was = { status: payment.status, updatedMs, processedMs, failureReason };
    payment.past = [...(payment.past ?? []), { ...was, untilMs: this.#world.nowMs }];
    payment.status = status;
    payment.updatedMs = this.#clock.nowMs();
    this.#movedMs = this.#world.nowMs;
    payment.failureReason = reason;
    if (status === "completed") payment.processedMs = payment.updatedMs;
    this.#world.tell("bank", `${payment.id} of ${payment.payableId} is ${status}`);
    if (status === "completed") this.#event("payable.paid", payment);
    if (status === "failed") this.#event("payable.payment.failed", payment);
    if (status === "returned") this.#event("payable.payment.reversed", payment);
    if (status === "refund_pending") {
      this.#moveAt(settlementInstant(this.#clock.nowMs(), 2), () => this.move(payment, "refunded"));
    }
  }

  arrive(transfer: Transfer): void {
    const fails = this.#deposits.chance(0.15);
    const comesBack = this.#deposits.chance(0.15);
    this.#atBank(settlementInstant(this.#clock.nowMs(), 2), () => {
      this.#moveDeposit(transfer, fails ? "failed" : "completed");
      if (fails) return;
      this.#book.balanceCents += transfer.amountCents;
      if (!comesBack) return;
      this.#atBank(settlementInstant(this.#clock.nowMs(), 1), () => {
        this.#book.balanceCents -= transfer.amountCents;
        this.#moveDeposit(transfer, "returned");
      });
    });
  }

  #moveDeposit(transfer: Transfer, status: string): void {
    transfer.status = status;
    transfer.updatedMs = this.#clock.nowMs();
    if (status !== "completed") transfer.failureReason = NO_MONEY;
    this.#world.tell("bank", `deposit ${transfer.id} is ${status}`);
  }

  #isShort({ rail, amountCents, status }: Payment): boolean {
    // A pending payment has already left the balance.
    const neededCents = status === "pending" ? 0 : amountCents;
    return rail !== BANK_RAIL && neededCents > this.#book.availableCents;
  }

  #isEmpty({ rail }: Payment): boolean {
    const sinceMs = this.#clock.nowMs() - this.#world.startedMs;
    return rail === BANK_RAIL && sinceMs < this.#habits.emptyDays * DAY_MS;
  }

  #settle(payment: Payment, fate: Fate): void {
    if (!stands(payment)) return;
    if (this.#isEmpty(payment)) {
      this.move(payment, "failed", NO_MONEY);
      return;
    }
    if (fate.status === "failed") {
      this.move(payment, "failed", fate.reason);
      return;
    }
    this.move(payment, "completed");
    if (fate.status !== "returned") return;
    this.#moveAt(settlementInstant(this.#clock.nowMs(), 1), () =>
      this.move(payment, "returned", fate.reason),
    );
  }

  #fateOf({ payableId }: Payment): Fate {
    const last = this.#lastFates.get(payableId);
    const isAgain =
      last !== undefined && last.reason !== null && this.#fates.chance(this.#habits.sameAgain);
    const fate = isAgain ? last : this.#fate();
    this.#lastFates.set(payableId, fate);
    return fate;
  }

  #fate(): Fate {
    const fails = this.#fates.chance(this.#habits.failures);
    const comesBack = this.#fates.chance(0.4);
    const reason = this.#fates.pick(REASONS);
    if (!fails) return { status: "completed", reason: null };
    return { status: comesBack ? "returned" : "failed", reason };
  }

  #moveAt(bankMs: number, work: () => void): void {
    this.#coming += 1;
    this.#atBank(bankMs, () => {
      this.#coming -= 1;
      work();
    });
  }

  #atBank(bankMs: number, work: () => void): void {
    this.#world.later(this.#clock.realMsAt(bankMs) - this.#world.nowMs, "bank", work);
  }

  #event(type: string, payment: Payment): void {
    this.atEvent?.(type, "payable", payment.payableId);
  }
}
