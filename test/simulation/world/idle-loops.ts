import type { TimerEntry, World } from "./world.ts";

/** A loop that looks twice a second looks for events; after other writes it looks again by then. */
const OTHERS_MS = 60_000;

interface Sleeper {
  readonly ms: number;
  readonly sinceMs: number;
  entry: TimerEntry;
}

/**
 * Loops that look twice a second, or once a minute, whether there is something to do. They sleep
 * until something is written to the store, so that weeks pass in a few steps.
 */
export class IdleLoops {
  readonly #world: World;
  readonly #longestMs: number;
  #sleepers: Sleeper[] = [];

  /** @param longestMs longest sleep of a loop while nothing is written for it */
  constructor(world: World, longestMs: number) {
    this.#world = world;
    this.#longestMs = longestMs;
  }

  /** @returns stops the sleep */
  sleep(ms: number, resolve: () => void): () => void {
    const world = this.#world;
    const entry = world.after(Math.max(ms, this.#longestMs), "idle loop", resolve);
    const sleeper: Sleeper = { ms, sinceMs: world.nowMs, entry };
    this.#sleepers.push(sleeper);
    return () => {
      sleeper.entry.cancelled = true;
    };
  }

  /** Something was written, perhaps events: each sleeping loop looks at its usual time. */
  wake(hasEvents: boolean): void {
    const { nowMs } = this.#world;
    this.#sleepers = this.#sleepers.filter(({ entry }) => !entry.cancelled && entry.atMs > nowMs);
    for (const sleeper of this.#sleepers) {
      const { entry, ms, sinceMs } = sleeper;
      const atMs = sinceMs + (hasEvents ? ms : Math.max(ms, OTHERS_MS));
      if (entry.atMs > Math.max(atMs, nowMs)) sleeper.entry = this.#world.hurry(entry, atMs);
    }
  }
}
