import type { BankClock } from "../service/bank-clock.ts";
import type { Book, Contact } from "../service/book.ts";
import type { Life } from "../service/life.ts";
import type { Stream } from "../world/random.ts";
import type { World } from "../world/world.ts";

/** What other people may do at the service between plan and payment. */
export const DOINGS = [
  /** A person pays a bill or a part of it outside the engine, or records such a payment. */
  "pays",
  /** A bill's amount is corrected. */
  "corrects",
  /** A vendor names another bank account. */
  "moves-account",
  /** A bill's own approval is reset, and given again later. */
  "resets-approval",
] as const;
export type Doing = (typeof DOINGS)[number];

/** People at the service who don't know of the engine. */
export class Others {
  readonly #world: World;
  readonly #book: Book;
  readonly #life: Life;
  readonly #clock: BankClock;
  readonly #kinds: ReadonlySet<Doing>;
  readonly #lots: Stream;
  readonly #outside: Stream;

  constructor(
    world: World,
    parts: {
      readonly book: Book;
      readonly life: Life;
      readonly clock: BankClock;
      readonly kinds: ReadonlySet<Doing>;
    },
  ) {
    this.#world = world;
    this.#book = parts.book;
    this.#life = parts.life;
    this.#clock = parts.clock;
    this.#kinds = parts.kinds;
    this.#lots = world.stream("others");
    this.#outside = world.stream("recorded outside");
  }

  /** @param troubleMs the time after which they do nothing new */
  begin(troubleMs: number): void {
    const syncs = this.#world.stream("accounting syncs");
    if (syncs.chance(0.3)) {
      const afterMs = syncs.chance(0.6)
        ? syncs.between(20_000, 300_000)
        : syncs.stretched(5_000, troubleMs);
      this.#world.later(afterMs, "others", () => this.#sync());
    }
    for (const kind of this.#kinds) {
      for (let time = this.#lots.between(1, 3); time > 0; time -= 1) {
        const isSoon = this.#lots.chance(0.7);
        const afterMs = isSoon
          ? this.#lots.between(5_000, 200_000)
          : this.#lots.stretched(5_000, troubleMs);
        this.#world.later(afterMs, "others", () => this.#do(kind));
      }
    }
  }

  #do(kind: Doing): void {
    const payable = this.#lots.pick([...this.#book.payables.values()]);
    const contact = this.#book.contacts.get(payable.contactId);
    const standingCents = this.#book.standingCents(payable.id);
    const owedCents = payable.totalCents - standingCents;
    this.#world.tell("somebody", `${kind} ${payable.id}`);
    if (kind === "pays" && owedCents > 0) {
      this.#pay(payable.id, this.#lots.chance(0.5) ? owedCents : Math.ceil(owedCents / 2));
    }
    if (kind === "corrects") {
      const cents = standingCents + this.#lots.between(1, 200) * 100;
      payable.totalCents = cents;
      payable.totals.push({ fromMs: this.#world.nowMs, cents });
    }
    if (kind === "moves-account" && contact !== undefined) {
      contact.last4 = String(this.#lots.between(1_000, 9_999));
      contact.movedMs = this.#world.nowMs;
      this.#edit(contact);
    }
    if (kind === "resets-approval") {
      payable.status = "pending_approval";
      this.#world.later(this.#lots.stretched(1_000, 3_600_000), "others", () => {
        payable.status = "approved";
      });
    }
  }

  /** An accounting sync touches every vendor, and changes nothing that anybody can see. */
  #sync(): void {
    this.#world.tell("an accounting sync", "touches every vendor");
    for (const contact of this.#book.contacts.values()) this.#edit(contact);
  }

  #edit(contact: Contact): void {
    contact.updatedMs = this.#clock.nowMs();
    contact.editedMs = this.#world.nowMs;
  }

  #pay(payableId: string, amountCents: number): void {
    const nowMs = this.#clock.nowMs();
    // A check or cash, which a person records at the service.
    const isRecorded = this.#outside.chance(0.3);
    const payment = {
      id: this.#book.newId("pay"),
      payableId,
      contactId: this.#book.payables.get(payableId)?.contactId ?? "",
      amountCents,
      rail: isRecorded ? null : "SERVICE",
      bankAccountId: null,
      scheduledMs: nowMs,
      createdMs: nowMs,
      shownMs: this.#clock.realMs(),
      key: null,
      status: "pending",
      updatedMs: nowMs,
      processedMs: null,
      failureReason: null,
    };
    this.#book.payments.push(payment);
    if (isRecorded) this.#life.move(payment, "completed");
    else this.#life.begin(payment);
  }
}
