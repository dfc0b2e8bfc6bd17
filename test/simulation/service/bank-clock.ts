import type { World } from "../world/world.ts";

/** The service's clocks: the bank's, which runs fast in a sandbox, and real time. */
export class BankClock {
  readonly #world: World;
  /** Bank seconds in a real second. */
  readonly scale: number;
  /** Difference of the service's own wall clock from the world's time. */
  readonly skewMs: number;

  constructor(world: World, scale: number, skewMs: number) {
    this.#world = world;
    this.scale = scale;
    this.skewMs = skewMs;
  }

  realMs(): number {
    return this.#world.nowMs;
  }

  wireMs(): number {
    return this.#world.nowMs + this.skewMs;
  }

  /** @param atMs real instant */
  nowMs(atMs: number = this.#world.nowMs): number {
    const { startedMs } = this.#world;
    return Math.floor(startedMs + this.skewMs + (atMs - startedMs) * this.scale);
  }

  /** Returns the real instant at which the bank's clock shows `bankMs`. */
  realMsAt(bankMs: number): number {
    const { startedMs } = this.#world;
    return startedMs + (bankMs - this.skewMs - startedMs) / this.scale;
  }
}
