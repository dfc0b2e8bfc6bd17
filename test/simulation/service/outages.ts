import type { Stream } from "../world/random.ts";
import type { World } from "../world/world.ts";
import type { FaultPlan } from "./kinds.ts";

/** From longer than a key may be sent again without a lookup to well after its conclusive look. */
const MINUTES = { least: 11, most: 45 } as const;

/** When an outage is armed; it begins with the next money write. */
const SOON_MS = { least: 20_000, most: 60_000 } as const;

/** Times in which no request arrives at the service, beginning with a money write. */
export class Outages {
  readonly #world: World;
  readonly #plan: FaultPlan;
  readonly #lots: Stream;
  #isArmed = false;
  #untilMs = 0;

  constructor(world: World, plan: FaultPlan) {
    this.#world = world;
    this.#plan = plan;
    this.#lots = world.stream("outages");
  }

  begin(): void {
    const afterMs = this.#lots.between(SOON_MS.least, SOON_MS.most);
    this.#world.later(afterMs, "outage", () => {
      this.#isArmed = true;
    });
  }

  /** Called at each boundary of a process. */
  at(what: string): void {
    if (!this.#isArmed || !what.startsWith("connect POST")) return;
    this.#isArmed = false;
    const { nowMs } = this.#world;
    const minutes = this.#lots.between(MINUTES.least, MINUTES.most);
    if (nowMs >= this.#plan.healsAtMs || !this.#plan.count()) return;
    this.#untilMs = Math.min(nowMs + minutes * 60_000, this.#plan.healsAtMs);
    this.#world.tell("service", `can't be reached for ${minutes} minutes`);
  }

  get isOn(): boolean {
    return this.#world.nowMs < this.#untilMs;
  }

  /** True if a caller gets an error, false if it waits in vain. */
  isTold(): boolean {
    return this.#lots.chance(0.5);
  }
}
