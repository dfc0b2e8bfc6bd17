import type { StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/** So long a decision may take to act where nothing is in its way. */
const ACTS_WITHIN_MS = 60_000;

/** What still runs of a fault that struck is over by then. */
const AFTERMATH_MS = 35 * 60_000;

/** What is asked of the world: nothing holds a decision up. */
interface Health {
  /** When something went wrong last. */
  readonly troubledMs: number;
  /** True where every process runs, and Temporal and the service can be reached. */
  readonly isUp: boolean;
}

/**
 * What people have decided acts within a minute while all is healthy: what they approved is not left
 * waiting for an approval, what they let go is not on hold, and what they held, rejected or cancelled
 * doesn't go on.
 */
export class PromptRules {
  readonly #facts: StoreFacts;
  readonly #health: () => Health;
  /** Decisions that haven't acted yet, each with the instant at which it was seen first. */
  #waiting = new Map<string, number>();

  constructor(facts: StoreFacts, health: () => Health) {
    this.#facts = facts;
    this.#health = health;
  }

  /** Asked now and then. @throws Violation */
  check(nowMs: number, businessMs: number): void {
    const { troubledMs, isUp } = this.#health();
    const waiting = new Map<string, number>();
    if (isUp && nowMs - troubledMs > AFTERMATH_MS) {
      for (const { payableId, what } of this.#facts.undone(businessMs)) {
        const sinceMs = this.#waiting.get(what) ?? nowMs;
        waiting.set(what, sinceMs);
        if (nowMs - sinceMs <= ACTS_WITHIN_MS) continue;
        const seconds = Math.round((nowMs - sinceMs) / 1_000);
        throw new Violation("decisions-act", `${what}, for ${seconds} s by now`, payableId);
      }
    }
    this.#waiting = waiting;
  }
}
