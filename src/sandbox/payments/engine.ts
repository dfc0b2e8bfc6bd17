import { setImmediate as nextTurn } from "node:timers/promises";
import type { SandboxContext } from "../context.ts";
import { transaction } from "../db.ts";
import { nextScheduledInstant, nextScheduledStep } from "../schedule/scheduled-steps.ts";
import { takeScheduledStep } from "../schedule/step-handlers.ts";
import { nextDueInstant, nextDuePayment } from "./payment-rows.ts";
import { takeDueStep } from "./transitions.ts";

const stepsPerTransaction = 200;
const stepsPerRequest = 2_000;
const longestTimerMs = 60_000;

/**
 * Moves payments, and everything else that has scheduled steps, along on the bank clock: each step
 * at its own instant and in the order of these instants, even if the clock has leapt over many at
 * once.
 */
export class PaymentEngine {
  readonly #ctx: SandboxContext;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #stopListening: (() => void) | undefined;

  constructor(ctx: SandboxContext) {
    this.#ctx = ctx;
  }

  /** Takes what is due, and from then on wakes up by itself. */
  start(): void {
    this.#stopListening = this.#ctx.clock.onChange(() => this.wake());
    this.wake();
  }

  stop(): void {
    this.#stopped = true;
    this.#stopListening?.();
    clearTimeout(this.#timer);
  }

  /**
   * Sets the timer to the next instant at which something is due; called after new payments and
   * leaps of the clock.
   */
  wake(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    const { db } = this.#ctx;
    const dueAtMs = Math.min(
      nextDueInstant(db) ?? Number.POSITIVE_INFINITY,
      nextScheduledInstant(db) ?? Number.POSITIVE_INFINITY,
    );
    if (dueAtMs === Number.POSITIVE_INFINITY) return;
    const waitMs = Math.min(longestTimerMs, this.#ctx.clock.realMsUntilBank(dueAtMs));
    this.#timer = setTimeout(() => this.#onTimer(), Math.ceil(waitMs));
    this.#timer.unref();
  }

  /**
   * Takes the steps that are due before a request is answered, so that no answer shows a state that
   * the bank clock has left behind. A huge backlog is left to {@link PaymentEngine.catchUp}.
   */
  takeDueNow(): void {
    for (let steps = 0; steps < stepsPerRequest; steps += stepsPerTransaction) {
      if (!this.#takeSome()) return;
    }
  }

  /** Takes every step that is due, and lets requests run in between. */
  async catchUp(): Promise<void> {
    while (this.#takeSome()) await nextTurn();
  }

  #onTimer(): void {
    const isMore = this.#takeSome();
    if (isMore) this.#timer = setTimeout(() => this.#onTimer(), 0);
    else this.wake();
  }

  /** @returns true if there may be more. */
  #takeSome(): boolean {
    if (this.#stopped) return false;
    const { db, clock } = this.#ctx;
    const untilMs = clock.bankNow();
    let takeNext = nextDue(this.#ctx, untilMs);
    if (takeNext === undefined) return false;
    transaction(db, () => {
      for (let steps = 0; steps < stepsPerTransaction && takeNext !== undefined; steps += 1) {
        takeNext();
        takeNext = nextDue(this.#ctx, untilMs);
      }
    });
    return takeNext !== undefined;
  }
}

/** Returns a function that takes the first step, if one is due by `untilMs`. */
function nextDue(ctx: SandboxContext, untilMs: number): (() => void) | undefined {
  const step = nextScheduledStep(ctx.db, untilMs);
  const payment = nextDuePayment(ctx.db, untilMs);
  const isStepFirst = step !== undefined && step.due_at < (payment?.due_at ?? untilMs + 1);
  if (isStepFirst) return () => takeScheduledStep(ctx, step);
  return payment && (() => takeDueStep(ctx, payment));
}
