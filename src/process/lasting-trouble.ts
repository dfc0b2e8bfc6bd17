import { stepLastsFailing } from "../domain/facts/businesses.ts";
import { record } from "../store/facts/record.ts";
import { reasonOf } from "./repeat.ts";
import type { Store } from "../store/index.ts";

/**
 * How long something fails before operators are notified: a restart of Temporal needs no notice.
 */
const TOLD_AFTER_MS = 180_000;

/** Repeated work of a process, for one business. */
interface Repeating {
  readonly businessId: string;
  /** What it does, as a sentence begins. */
  readonly step: string;
}

interface TroubleContext {
  readonly store: Store;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  /** Real time. */
  readonly nowMs?: () => number;
}

/**
 * Notifies operators of work that a process tries again and again and that fails for minutes: once
 * a day for each business and step. A failing step keeps nothing else from being done.
 */
export class LastingTrouble {
  readonly #context: TroubleContext;
  readonly #sinceMs = new Map<string, number>();

  constructor(context: TroubleContext) {
    this.#context = context;
  }

  /** Does the work, once. @returns undefined if it has failed */
  async watch<T>(repeating: Repeating, work: () => Promise<T>): Promise<T | undefined> {
    try {
      const done = await work();
      this.over(repeating);
      return done;
    } catch (error) {
      await this.failed(repeating, error);
      return undefined;
    }
  }

  over(repeating: Repeating): void {
    this.#sinceMs.delete(keyOf(repeating));
  }

  async failed(repeating: Repeating, error: unknown): Promise<void> {
    const { store, log, nowMs: clock = Date.now } = this.#context;
    const { businessId, step } = repeating;
    const nowMs = clock();
    const reason = reasonOf(error);
    const key = keyOf(repeating);
    const sinceMs = this.#sinceMs.get(key);
    if (sinceMs === undefined) {
      this.#sinceMs.set(key, nowMs);
      log.warn(`${step} has failed; trying again`, { businessId, reason });
      return;
    }
    if (nowMs - sinceMs < TOLD_AFTER_MS) return;
    const since = new Date(sinceMs).toISOString();
    const day = new Date(nowMs).toISOString().slice(0, 10);
    const failing = stepLastsFailing({ businessId, nowMs }, { step, reason, since, day });
    await store
      .transactionOf(businessId, (trx) => record(trx, failing))
      .catch((fault: unknown) => {
        const fields = { businessId, step, reason, why: reasonOf(fault) };
        log.warn("people could not be notified of a failing step", fields);
      });
  }
}

function keyOf({ businessId, step }: Repeating): string {
  return `${businessId}/${step}`;
}
