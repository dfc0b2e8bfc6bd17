import type { SendRow, StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/** W: so long after its arrival a request may still be carried out; a sandbox's by its wire clock. */
const WINDOW_MS = { real: 30 * 60_000, sandbox: 6 * 60_000 } as const;

/** A service's clock is only told in whole seconds, and a sandbox's only read now and then. */
const LAG_MS = { real: 1_000, sandbox: 5_000 } as const;

/**
 * Rule 10: a restored store sends nothing before a look begun W after the loss was noticed. What the
 * gate itself goes by is such a look and no row, so that only the instant is asked here.
 */
export class LossRules {
  readonly #facts: StoreFacts;
  readonly #afterMs: number;
  /** Losses that the backup already told of. */
  #knownBefore = 0;
  #restoredMs = 0;
  /** Until then nobody had noticed; it happened soon after. */
  #unnoticedMs = 0;
  #isNoticed = false;

  constructor(facts: StoreFacts, sandbox: boolean) {
    const kind = sandbox ? "sandbox" : "real";
    this.#facts = facts;
    this.#afterMs = WINDOW_MS[kind] - LAG_MS[kind];
  }

  restored(nowMs: number): void {
    this.#restoredMs = nowMs;
    this.#unnoticedMs = nowMs;
    this.#isNoticed = false;
    this.#knownBefore = this.#facts.lossesNoticed();
  }

  /** Asked now and then: when a process notices a loss, by the world's clock and not by its own. */
  meanwhile(nowMs: number): void {
    if (this.#restoredMs === 0 || this.#isNoticed) return;
    this.#isNoticed = this.#facts.lossesNoticed() > this.#knownBefore;
    if (!this.#isNoticed) this.#unnoticedMs = nowMs;
  }

  /** Asked as bytes leave. @throws Violation */
  check({ subject, openedMs }: SendRow): void {
    if (!this.#isNoticed || openedMs <= this.#unnoticedMs) return;
    if (openedMs >= this.#unnoticedMs + this.#afterMs) return;
    const minutes = Math.round((openedMs - this.#unnoticedMs) / 60_000);
    const what = `${subject} is sent ${minutes} minutes after a loss of the store was noticed`;
    throw new Violation("restored-stores-wait", what, subject);
  }
}
