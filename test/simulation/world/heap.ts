/** Something due at an instant; of equal instants, the first one created comes first. */
export interface Due {
  readonly atMs: number;
  readonly number: number;
}

/** A heap whose next item is the one that is due first. */
export class Heap<T extends Due> {
  readonly #items: T[] = [];

  get first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (!this.#isBefore(at, up)) return;
      this.#swap(at, up);
      at = up;
    }
  }

  take(): T | undefined {
    const items = this.#items;
    const [first] = items;
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    items[0] = last;
    for (let at = 0; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < items.length && this.#isBefore(child, least)) least = child;
      }
      if (least === at) return first;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(left: number, right: number): boolean {
    const [a, b] = [this.#items[left], this.#items[right]];
    if (a === undefined || b === undefined) return false;
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.number < b.number);
  }

  #swap(left: number, right: number): void {
    const [a, b] = [this.#items[left], this.#items[right]];
    if (a === undefined || b === undefined) return;
    this.#items[left] = b;
    this.#items[right] = a;
  }
}
