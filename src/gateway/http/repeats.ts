import { isToldOf } from "../../domain/rarely.ts";

const DAY_MS = 86_400_000;

/** Something that has come again, and is worth writing down once more. */
export interface Repeat {
  readonly key: string;
  /** How often it has come on this day, this time included. */
  readonly times: number;
}

/**
 * Says when what may come without end is written down: at the 1st, 10th, 100th … time of a UTC day.
 * Of many different keys only the first are told apart, the rest is counted together.
 */
export class Repeats {
  readonly #most: number;
  readonly #times = new Map<string, number>();
  #day = -1;

  /** @param most keys of a day that are told apart */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /** @returns undefined where it is not worth another entry */
  note(key: string, nowMs: number): Repeat | undefined {
    const day = Math.floor(nowMs / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#times.clear();
    }
    const isOwn = this.#times.has(key) || this.#times.size < this.#most;
    const known = isOwn ? key : "others";
    const times = (this.#times.get(known) ?? 0) + 1;
    this.#times.set(known, times);
    return isToldOf(times) ? { key: known, times } : undefined;
  }
}
