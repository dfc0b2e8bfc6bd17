import { wakeUp } from "../domain/facts/fact.ts";
import { record } from "../store/facts/record.ts";
import type { BusinessClock } from "../business/clock.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { OneEach } from "../process/one-each.ts";
import { reasonOf, repeat, type Repeated } from "../process/repeat.ts";
import type { Store } from "../store/index.ts";

const LOOK_EVERY_MS = 1_000;

interface Watching {
  readonly store: Store;
  readonly profiles: { all(): readonly BusinessProfile[] };
  readonly log: { info(message: string, fields?: Record<string, unknown>): void };
  clockOf(business: string): BusinessClock;
  /** A second by default; tests may set less. */
  readonly everyMs?: number;
}

/**
 * Looks every second at the clocks of sandbox businesses, and has all workflows of a business
 * signaled once its clock is stepped or runs at another speed: they sleep until something is due by
 * the clock as it was.
 *
 * Every worker does so, because each carries its own readings on for a second.
 */
export function startClockWatch(context: Watching): Repeated {
  const { everyMs = LOOK_EVERY_MS } = context;
  const watch = new ClockWatch(context);
  return repeat(
    async () => {
      await watch.look();
      return everyMs;
    },
    () => everyMs,
  );
}

class ClockWatch {
  readonly #context: Watching;
  /** Businesses whose clock has moved without a record of it yet. */
  readonly #moved = new Set<string>();
  readonly #unread = new Set<string>();
  /** A slow look is shared with the next one, or workflows would be signaled twice. */
  readonly #looks = new OneEach();

  constructor(context: Watching) {
    this.#context = context;
  }

  /** Looks at each business; one that responds slowly holds up no other. */
  async look(): Promise<void> {
    const sandboxes = this.#context.profiles.all().filter(({ sandbox }) => sandbox);
    const looks = sandboxes.map((profile) =>
      this.#looks.begin(profile.name, () => this.#lookAt(profile), LOOK_EVERY_MS),
    );
    await Promise.all(looks);
  }

  async #lookAt({ name, businessId }: BusinessProfile): Promise<void> {
    const { store, log } = this.#context;
    try {
      if (await this.#context.clockOf(name).hasMoved()) this.#moved.add(name);
      this.#unread.delete(name);
      if (!this.#moved.has(name)) return;
      await store.transactionOf(businessId, (trx) =>
        record(trx, wakeUp(businessId, { kind: "clock" })),
      );
      this.#moved.delete(name);
    } catch (error) {
      // A service without such a clock is logged once; the looks go on.
      const fields = { business: name, reason: reasonOf(error) };
      if (!this.#unread.has(name)) log.info("the sandbox's clock can't be watched", fields);
      this.#unread.add(name);
    }
  }
}
