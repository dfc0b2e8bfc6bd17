import type { Deadline } from "./deadline.ts";

/**
 * Allows as many requests at once as there are connections. The others wait here, in order, where
 * they can be called back: undici's own queue notices an aborted request only at its turn.
 */
export class Slots {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Waits for a slot, which the caller gives back with `release`.
   *
   * @returns false if the deadline ended first; there is then nothing to give back
   */
  acquire(deadline: Deadline): Promise<boolean> {
    if (deadline.ended) return Promise.resolve(false);
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const forget = deadline.onEnd(() => {
        this.#waiting.delete(proceed);
        resolve(false);
      });
      const proceed = () => {
        forget();
        resolve(true);
      };
      this.#waiting.add(proceed);
    });
  }

  release(): void {
    for (const proceed of this.#waiting) {
      this.#waiting.delete(proceed);
      proceed();
      return;
    }
    this.#free += 1;
  }
}
