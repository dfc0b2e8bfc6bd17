import { setTimeout as sleep } from "node:timers/promises";

/** Work that is done again and again, one piece at a time for each key, such as a business. */
export class OneEach {
  readonly #works = new Map<string, Promise<unknown>>();

  /** The keys whose work goes on. */
  get keys(): string[] {
    return [...this.#works.keys()];
  }

  /**
   * Begins a piece of work unless that key's last one still goes on, and waits for it, for a moment
   * only: slow work goes on beside what follows, and holds up no other key's.
   *
   * @returns undefined if it didn't begin, or goes on
   */
  async begin<T>(key: string, work: () => Promise<T>, waitMs: number): Promise<T | undefined> {
    if (this.#works.has(key)) return undefined;
    const all = work().finally(() => this.#works.delete(key));
    this.#works.set(key, all);
    const moment = new AbortController();
    const { signal } = moment;
    const over = sleep(waitMs, undefined, { ref: false, signal }).catch(() => undefined);
    return Promise.race([all, over]).finally(() => moment.abort());
  }

  /** Waits for everything that goes on. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#works.values());
  }
}
