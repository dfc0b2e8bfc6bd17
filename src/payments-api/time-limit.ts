/**
 * A limit that uses the clocks, not a timer: in a process that was frozen, other work may run
 * before the overdue timer does. It reads both clocks, because each may stand still or be set back:
 * the monotonic one stands still while the machine is suspended, and the wall clock can be set by a
 * person.
 */
export class TimeLimit {
  readonly #endsAt: number;
  readonly #endsAtWall: number;

  /** Starts the limit now. */
  constructor(limitMs: number) {
    this.#endsAt = performance.now() + limitMs;
    this.#endsAtWall = Date.now() + limitMs;
  }

  get passed(): boolean {
    return performance.now() >= this.#endsAt || Date.now() >= this.#endsAtWall;
  }
}
