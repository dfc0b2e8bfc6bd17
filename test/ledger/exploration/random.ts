/** Random numbers that are the same for the same seed (mulberry32). */
export interface Random {
  readonly chance: (share: number) => boolean;
  /** A number of the range, its ends more often than the rest: that is where rules break. */
  readonly between: (from: number, to: number) => number;
}

export function randomOf(seed: number): Random {
  let state = seed;
  const draw = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    chance: (share) => draw() < share,
    between: (from, to) => {
      const share = Math.min(Math.max(draw() * 1.4 - 0.2, 0), 1);
      return Math.round(from + share * (to - from));
    },
  };
}

/** A queue of actions, which run in the order of their instants. */
export class Timeline {
  nowMs: number;
  readonly #due: { readonly atMs: number; readonly act: () => void }[] = [];

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  after(delayMs: number, act: () => void): void {
    const atMs = this.nowMs + delayMs;
    const index = this.#due.findIndex((each) => each.atMs > atMs);
    this.#due.splice(index === -1 ? this.#due.length : index, 0, { atMs, act });
  }

  /** Runs everything that is due up to an instant. */
  runUntil(untilMs: number): void {
    for (let first = this.#due[0]; first !== undefined && first.atMs <= untilMs;) {
      this.#due.shift();
      this.nowMs = first.atMs;
      first.act();
      first = this.#due[0];
    }
    this.nowMs = untilMs;
  }
}
