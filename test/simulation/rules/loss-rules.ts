import type { SendRow, StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/**
 * W: how long after its arrival a request may still be carried out; a sandbox's on its wire clock.
 */
const WINDOW_MS = { real: 30 * 60_000, sandbox: 6 * 60_000 } as const;

/** A service's clock has whole seconds only, and a sandbox's is read only now and then. */
const LAG_MS = { real: 1_000, sandbox: 5_000 } as const;

/**
 * Rule 10: a restored store sends nothing before a look begun W after the loss was noticed. The
 * gate relies on such a look, which is not a row, so only the instant is checked here.
 */
export class LossRules {
  readonly #facts: StoreFacts;
  readonly #afterMs: number;
  /** Losses that the backup already had on record. */
  #knownBefore = 0;
  #restoredMs = 0;
  /** The last instant at which the loss was still unnoticed. */
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

  /** Called now and then: finds when a process notices a loss, by the world's clock. */
  meanwhile(nowMs: number): void {
    if (this.#restoredMs === 0 || this.#isNoticed) return;
    this.#isNoticed = this.#facts.lossesNoticed() > this.#knownBefore;
    if (!this.#isNoticed) this.#unnoticedMs = nowMs;
  }

  /** Called as bytes leave. @throws Violation */
  check({ subject, openedMs }: SendRow): void {
    if (!this.#isNoticed || openedMs <= this.#unnoticedMs) return;
    if (openedMs >= this.#unnoticedMs + this.#afterMs) return;
    const minutes = Math.round((openedMs - this.#unnoticedMs) / 60_000);
    const what = `${subject} is sent ${minutes} minutes after a loss of the store was noticed`;
    throw new Violation("restored-stores-wait", what, subject);
  }
}
