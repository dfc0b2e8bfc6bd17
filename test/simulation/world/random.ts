/**
 * Random numbers determined by a seed and a name. Each name has a stream of its own, so that
 * leaving out one choice shifts no other, and a shortened trace still fits.
 */
export class Stream {
  #a: number;
  #b: number;
  #c: number;
  #d = 1;

  constructor(seed: number, name: string) {
    let hash = 0x811c9dc5 ^ seed;
    for (let at = 0; at < name.length; at += 1) {
      hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
    }
    this.#a = hash;
    this.#b = Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995;
    this.#c = Math.imul(hash ^ 0x85ebca6b, 0xc2b2ae35);
    for (let turn = 0; turn < 12; turn += 1) this.next();
  }

  /** Returns a number from 0 up to, but not including, 1 (sfc32). */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Returns an integer from the first to the last, both included. */
  between(first: number, last: number): number {
    return first + Math.floor(this.next() * (last - first + 1));
  }

  /** Returns the same, with small magnitudes as likely as large ones. */
  stretched(first: number, last: number): number {
    const low = Math.max(1, first);
    return Math.min(last, Math.floor(low * (last / low) ** this.next()));
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  hex(digits: number): string {
    let text = "";
    while (text.length < digits) text += this.between(0, 0xffff).toString(16).padStart(4, "0");
    return text.slice(0, digits);
  }
}
