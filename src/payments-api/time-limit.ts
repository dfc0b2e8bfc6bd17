/**
 * A limit that holds by the clocks, not by a timer: in a process that was frozen, other work may run
 * before the overdue timer does. It asks both clocks, because each of them may stand still or be set
 * back: the monotonic one while the machine is suspended, the wall clock when somebody sets it.
 */
export class TimeLimit {
  readonly #endsAt: number;
  readonly #endsAtWall: number;

  /** Begins now. */
  constructor(limitMs: number) {
    this.#endsAt = performance.now() + limitMs;
    this.#endsAtWall = Date.now() + limitMs;
  }

  get passed(): boolean {
    return performance.now() >= this.#endsAt || Date.now() >= this.#endsAtWall;
  }
}
