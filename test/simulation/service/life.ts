import { settlementInstant } from "../../../src/sandbox/payments/banking-days.ts";
import type { Stream } from "../world/random.ts";
import type { World } from "../world/world.ts";
import type { BankClock } from "./bank-clock.ts";
import { type Book, type Payment, stands, type Transfer } from "./book.ts";

/** What becomes of a payment in the end. */
type Fate = {
  readonly status: "completed" | "failed" | "returned";
  readonly reason: string | null;
};

const REASONS = [
  "R01 insufficient funds",
  "R09 uncollected funds",
  "R02 account closed",
  "R03 no account",
  "R10 not authorized",
];

/** Takes payments and deposits through the network, by the bank's clock. */
export class Life {
  /** Told of each event, as the service's webhooks tell it. */
  atEvent: ((type: string, object: string, id: string) => void) | undefined;
  readonly #world: World;
  readonly #book: Book;
  readonly #clock: BankClock;
  readonly #fates: Stream;
  readonly #failures: number;
  /** What became of the last payment of a bill: it often happens again. */
  readonly #lastFates = new Map<string, Fate>();

  /** @param failures share of payments that fail or come back */
  constructor(world: World, book: Book, clock: BankClock, failures: number) {
    this.#world = world;
    this.#book = book;
    this.#clock = clock;
    this.#fates = world.stream("fates");
    this.#failures = failures;
  }

  begin(payment: Payment): void {
    const fate = this.#fateOf(payment);
    this.#event("payable.payment.scheduled", payment);
    this.#atBank(payment.scheduledMs + 2_000, () => {
      if (payment.status !== "scheduled" && payment.status !== "pending") return;
      this.move(payment, "processing");
      const settlesMs = settlementInstant(this.#clock.nowMs(), 1);
      this.#atBank(settlesMs, () => this.#settle(payment, fate));
    });
  }

  move(payment: Payment, status: string, reason: string | null = null): void {
    payment.status = status;
    payment.updatedMs = this.#clock.nowMs();
    payment.failureReason = reason;
    if (status === "completed") payment.processedMs = payment.updatedMs;
    this.#world.tell("bank", `${payment.id} of ${payment.payableId} is ${status}`);
    if (status === "completed") this.#event("payable.paid", payment);
    if (status === "failed") this.#event("payable.payment.failed", payment);
    if (status === "returned") this.#event("payable.payment.reversed", payment);
    if (status === "refund_pending") {
      this.#atBank(settlementInstant(this.#clock.nowMs(), 2), () => this.move(payment, "refunded"));
    }
  }

  arrive(transfer: Transfer): void {
    this.#atBank(settlementInstant(this.#clock.nowMs(), 2), () => {
      transfer.status = "completed";
      transfer.updatedMs = this.#clock.nowMs();
      this.#book.balanceCents += transfer.amountCents;
      this.#world.tell("bank", `deposit ${transfer.id} has arrived`);
    });
  }

  #settle(payment: Payment, fate: Fate): void {
    if (!stands(payment)) return;
    if (fate.status === "failed") {
      this.move(payment, "failed", fate.reason);
      return;
    }
    this.move(payment, "completed");
    if (fate.status !== "returned") return;
    this.#atBank(settlementInstant(this.#clock.nowMs(), 1), () =>
      this.move(payment, "returned", fate.reason),
    );
  }

  #fateOf({ payableId }: Payment): Fate {
    const last = this.#lastFates.get(payableId);
    const isAgain = last !== undefined && last.reason !== null && this.#fates.chance(0.6);
    const fate = isAgain ? last : this.#fate();
    this.#lastFates.set(payableId, fate);
    return fate;
  }

  #fate(): Fate {
    const fails = this.#fates.chance(this.#failures);
    const comesBack = this.#fates.chance(0.4);
    const reason = this.#fates.pick(REASONS);
    if (!fails) return { status: "completed", reason: null };
    return { status: comesBack ? "returned" : "failed", reason };
  }

  #atBank(bankMs: number, work: () => void): void {
    this.#world.later(this.#clock.realMsAt(bankMs) - this.#world.nowMs, "bank", work);
  }

  #event(type: string, payment: Payment): void {
    this.atEvent?.(type, "payable", payment.payableId);
  }
}
