import type { StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/** How long a decision may take to act if nothing is in its way. */
const ACTS_WITHIN_MS = 60_000;

/** How long a fault's effects may last. */
const AFTERMATH_MS = 35 * 60_000;

/** The state of the world: whether anything delays a decision. */
interface Health {
  /** When something last went wrong. */
  readonly troubledMs: number;
  /** True if every process runs, and Temporal and the service can be reached. */
  readonly isUp: boolean;
}

/**
 * Decisions of people act within a minute while all is healthy: approved lines don't wait for an
 * approval, released ones are not on hold, and held, rejected or cancelled ones don't go on.
 */
export class PromptRules {
  readonly #facts: StoreFacts;
  readonly #health: () => Health;
  /** Decisions that haven't acted yet, each with the instant at which it was first seen. */
  #waiting = new Map<string, number>();

  constructor(facts: StoreFacts, health: () => Health) {
    this.#facts = facts;
    this.#health = health;
  }

  /** Called now and then. @throws Violation */
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
