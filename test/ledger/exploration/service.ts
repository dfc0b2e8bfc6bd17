import { windowMs } from "../../../src/ledger/derive.ts";
import type { SendResult, ShownThing } from "../../../src/ledger/facts.ts";
import { MIN, payment, TERMS } from "../facts.ts";
import type { Random, Timeline } from "./random.ts";

export interface Answer {
  readonly result: SendResult;
  readonly status: number;
  readonly madeIds: readonly string[];
  readonly dateMs: number;
}

interface Key {
  readonly body: string;
  readonly arrivedMs: number;
  state: "running" | "paid" | "rejected" | "died";
  ids: readonly string[];
}

interface Made {
  readonly id: string;
  readonly amountCents: number;
  readonly shownFromMs: number;
  status: string;
}

const REMEMBERED_MS = 15 * MIN;
const UNCONFIRMED_AFTER_MS = 5 * MIN;

/**
 * A service that does everything that the envelope allows: it queues requests, runs for half an
 * hour, drops requests, pays in parts, doesn't answer, and forgets its keys.
 */
export class Service {
  readonly made: Made[] = [];
  /** False once all faults have ended. */
  hasFaults = true;
  readonly offsetMs: number;
  readonly #keys = new Map<string, Key>();
  readonly #random: Random;
  readonly #time: Timeline;
  readonly #onMade: () => void;

  constructor(random: Random, time: Timeline, onMade: () => void) {
    this.#random = random;
    this.#time = time;
    this.#onMade = onMade;
    this.offsetMs = random.between(-10 * MIN, 10 * MIN);
  }

  clockMs(): number {
    return this.#time.nowMs + this.offsetMs;
  }

  /** Returns what a reading shows if it began at `begunMs` and ends now. */
  shownSince(begunMs: number): ShownThing[] {
    return this.made
      .filter(
        ({ shownFromMs }) =>
          shownFromMs <= begunMs || (shownFromMs <= this.#time.nowMs && this.#random.chance(0.5)),
      )
      .map(({ id, amountCents, status }) => payment(id, { amountCents, status }));
  }

  /** Returns the sum of the payments that are not known to be unpaid, in cents. */
  standingCents(): number {
    const standing = this.made.filter(({ status }) => status !== "returned");
    return standing.reduce((sum, { amountCents }) => sum + amountCents, 0);
  }

  /** Receives a request, which may never be answered. */
  receive(name: string, body: string, answer: (given: Answer) => void): void {
    const say = (result: SendResult, status: number, madeIds: readonly string[] = []) => {
      answer({ result, status, madeIds, dateMs: this.clockMs() });
    };
    const key = this.#known(name);
    if (key === undefined) {
      this.#begin(name, body, say);
    } else if (key.body !== body) {
      say("conflict", 409);
    } else if (key.state === "paid") {
      say("applied", 201, key.ids);
    } else if (key.state === "rejected") {
      say("rejected", 422);
    } else if (key.state === "died") {
      say("unconfirmed", 409);
    } else if (this.#time.nowMs - key.arrivedMs < UNCONFIRMED_AFTER_MS) {
      say("conflict", 409);
    } else {
      // The request may still pay.
      key.state = "died";
      say("unconfirmed", 409);
    }
  }

  #known(name: string): Key | undefined {
    const key = this.#keys.get(name);
    if (key === undefined || key.state === "running") return key;
    const isOld = this.#time.nowMs - key.arrivedMs > REMEMBERED_MS;
    if (!isOld || !this.#random.chance(0.7)) return key;
    this.#keys.delete(name);
    return undefined;
  }

  #begin(
    name: string,
    body: string,
    say: (result: SendResult, status: number, madeIds?: readonly string[]) => void,
  ): void {
    const random = this.#random;
    if (this.hasFaults) {
      if (random.chance(0.1)) return say("refused", 409);
      if (random.chance(0.06)) return say("refused", random.chance(0.5) ? 401 : 429);
      if (random.chance(0.06)) {
        const isStored = random.chance(0.8);
        if (isStored) this.#remember(name, { body, state: "rejected" });
        return say("rejected", 422);
      }
    }
    const key = this.#remember(name, { body, state: "running" });
    const isFast = !this.hasFaults || random.chance(0.5);
    const runsMs = isFast ? random.between(0, 3_000) : random.between(0, windowMs(false));
    const pays = !this.hasFaults || random.chance(0.8);
    this.#time.after(runsMs, () => {
      if (!pays) {
        key.state = "died";
        if (random.chance(0.5)) say("unknown", 500);
        return;
      }
      const ids = this.#pay(windowMs(false) - runsMs);
      // A 2xx names every payment that was made.
      const saysYes = key.state === "running" && (!this.hasFaults || random.chance(0.7));
      key.state = ids !== null && saysYes ? "paid" : "died";
      if (ids === null || !saysYes) return say("unknown", 500);
      key.ids = ids;
      say("applied", 201, ids);
    });
  }

  #remember(name: string, key: Pick<Key, "body" | "state">): Key {
    const kept: Key = { ...key, arrivedMs: this.#time.nowMs, ids: [] };
    this.#keys.set(name, kept);
    return kept;
  }

  /** Pays in one payment or in halves; returns null if the other half comes later, or never. */
  #pay(withinMs: number): readonly string[] | null {
    const halfCents = TERMS.amountCents / 2;
    if (!this.hasFaults || this.#random.chance(0.8)) return [this.#make(TERMS.amountCents)];
    const first = this.#make(halfCents);
    if (this.#random.chance(0.5)) return [first, this.#make(halfCents)];
    if (this.#random.chance(0.7)) {
      this.#time.after(this.#random.between(0, withinMs), () => this.#make(halfCents));
    }
    return null;
  }

  #make(amountCents: number): string {
    const id = `p${this.made.length + 1}`;
    const shownFromMs = this.#time.nowMs + this.#random.between(0, MIN);
    this.made.push({ id, amountCents, shownFromMs, status: "scheduled" });
    this.#onMade();
    return id;
  }
}
