import { newYorkDate, newYorkInstantMs } from "../../../src/domain/clock/new-york.ts";
import { type Book, type Payment, stands } from "../service/book.ts";
import type { Accepted } from "../service/bank.ts";
import type { BankClock } from "../service/bank-clock.ts";
import type { World } from "../world/world.ts";
import type { StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/**
 * Scheduled payments are read once more before the cut-off at 9:00; a change must have shown by
 * then.
 */
const LAST_READ = "08:00";
const CUT_OFF = "09:00";

interface Parts {
  readonly book: Book;
  readonly facts: StoreFacts;
  readonly clock: BankClock;
  /** The instant until which anything may be broken. */
  readonly healsAtMs: number;
  readonly judge: (rule: () => void) => void;
}

/** Longer than any back-off after a failure. */
const HEALING_MS = 2 * 3_600_000;

/** How soon a payment that is carried out after the cut-off is seen, by the polling of payments. */
const SEEN_WITHIN_MS = 24 * 3_600_000;

/** More money stands for a bill than its amount. */
interface TooMuch {
  readonly sinceMs: number;
  /** Real instant by which it must be known. */
  readonly knownByMs: number;
}

/**
 * If the service breaks the ledger's envelope, too much may be paid, but never silently: nothing
 * more of the bill is sent and people are notified, before the cut-off if that is possible.
 */
export class SilenceRules {
  readonly #world: World;
  readonly #parts: Parts;
  readonly #tooMuch = new Map<string, TooMuch>();

  constructor(world: World, parts: Parts) {
    this.#world = world;
    this.#parts = parts;
  }

  /** Called after the bank has accepted something. */
  accepted({ subject, kind }: Accepted): void {
    if (kind !== "payment" || this.#tooMuch.has(subject) || !this.#isTooMuch(subject)) return;
    const sinceMs = this.#world.nowMs;
    this.#world.tell("bank", `more stands for ${subject} than it comes to`);
    const standing = this.#standing(subject);
    const shownMs = Math.max(...standing.map((payment) => payment.shownMs));
    const cutMs = this.#cutOffMs(standing, shownMs);
    this.#tooMuch.set(subject, { sinceMs, knownByMs: cutMs ?? sinceMs + SEEN_WITHIN_MS });
    if (cutMs === undefined) return;
    this.#world.later(cutMs - this.#world.nowMs, "cut-off", () => {
      if (this.#isTooMuch(subject)) {
        this.#parts.judge(() => this.#mustBeKnown(subject, "before the cut-off"));
      }
    });
  }

  /**
   * A payment was scheduled: if its vendor's account changes afterwards, people are notified before
   * the money goes out.
   */
  scheduled({ subject, kind, paymentIds }: Accepted): void {
    const { book, clock, healsAtMs, judge } = this.#parts;
    const made = book.payments.find(({ id }) => id === paymentIds[0]);
    if (kind !== "payment" || clock.scale !== 1 || made?.status !== "scheduled") return;
    const acceptedMs = this.#world.nowMs;
    const date = newYorkDate(made.scheduledMs);
    const readMs = clock.realMsAt(newYorkInstantMs(date, LAST_READ));
    const cutMs = clock.realMsAt(newYorkInstantMs(date, CUT_OFF));
    // What has only just healed may have backed off for longer.
    if (readMs < healsAtMs + HEALING_MS) return;
    this.#world.later(cutMs - acceptedMs - 1, "cut-off", () => {
      const movedMs = book.contacts.get(made.contactId)?.movedMs ?? 0;
      const isMoved = movedMs > acceptedMs && movedMs < readMs;
      if (made.status === "scheduled" && isMoved) {
        judge(() => this.#mustBeTold(subject, acceptedMs));
      }
    });
  }

  #mustBeTold(subject: string, sinceMs: number): void {
    const { facts } = this.#parts;
    if (!facts.states(subject).includes("scheduled") || facts.wasTold(subject, sinceMs)) return;
    const what = `the vendor's account has changed since ${subject} was scheduled, and before the cut-off nobody was told`;
    throw new Violation("changed-account-is-told", what, subject);
  }

  atTheEnd(): void {
    for (const [subject, { knownByMs }] of this.#tooMuch) {
      if (knownByMs <= this.#world.nowMs) this.#mustBeKnown(subject, "to the end");
    }
  }

  /**
   * Returns the real instant of the cut-off before which it can be known; undefined if it is too
   * late.
   */
  #cutOffMs(standing: readonly Payment[], shownMs: number): number | undefined {
    const { clock, healsAtMs } = this.#parts;
    const runsMs = Math.min(...standing.map(({ scheduledMs }) => scheduledMs));
    const date = newYorkDate(runsMs);
    const readMs = clock.realMsAt(newYorkInstantMs(date, LAST_READ));
    if (readMs < shownMs + 60_000 || readMs < healsAtMs) return undefined;
    return clock.realMsAt(newYorkInstantMs(date, CUT_OFF));
  }

  #mustBeKnown(subject: string, until: string): void {
    const { facts } = this.#parts;
    const sinceMs = this.#tooMuch.get(subject)?.sinceMs ?? 0;
    const isHeld = facts.wasHeld(subject, sinceMs) || facts.isLeftToPerson(subject);
    const isTold = facts.wasTold(subject, sinceMs);
    if (isHeld && isTold) return;
    const missing = [...(isHeld ? [] : ["on hold"]), ...(isTold ? [] : ["told of"])].join(" or ");
    const what = `more than it comes to stands for ${subject}, and ${until} it was not ${missing}`;
    throw new Violation("never-silently", what, subject);
  }

  #standing(subject: string): Payment[] {
    return this.#parts.book.paymentsOf(subject).filter(stands);
  }

  #isTooMuch(subject: string): boolean {
    const { book } = this.#parts;
    return book.standingCents(subject) > book.mostCents(subject, 0);
  }
}
