import type { FaultPlan } from "./service/kinds.ts";
import type { Stream } from "./world/random.ts";
import type { ProcessNode, World } from "./world/world.ts";

/** What may happen to the engine's processes, and to Temporal. */
export const TROUBLES = [
  /** Frozen past its leases and heartbeats, and woken. */
  "freeze",
  /** Killed, and started again. */
  "kill",
  /** Statements and answers are slow in one process. */
  "lag",
  /** Temporal is away for a while. */
  "temporal-away",
  /** A workflow is reset to an earlier task. */
  "reset",
] as const;
export type Trouble = (typeof TROUBLES)[number];

/** Lets processes freeze, die and lag at any boundary, mostly while money moves. */
export class Troubles {
  readonly #world: World;
  readonly #plan: FaultPlan;
  readonly #kinds: ReadonlySet<Trouble>;
  readonly #steady: string | undefined;
  readonly #lots: Stream;
  readonly #restart: (node: ProcessNode) => void;
  #left: number;

  constructor(
    world: World,
    plan: FaultPlan,
    kinds: ReadonlySet<Trouble>,
    steady: string | undefined,
    restart: (node: ProcessNode) => void,
  ) {
    this.#world = world;
    this.#plan = plan;
    this.#kinds = kinds;
    this.#steady = steady;
    this.#restart = restart;
    this.#lots = world.stream("troubles");
    this.#left = this.#lots.between(1, 12);
  }

  begin(): void {
    this.#world.atBoundary = (node, what) => this.#at(node, what);
  }

  /** @returns how long this boundary takes */
  #at(node: ProcessNode, what: string): number {
    const { nowMs } = this.#world;
    if (node.kind !== "worker" && node.kind !== "gateway") return 0;
    if (node.id === this.#steady) return 0;
    if (nowMs >= this.#plan.healsAtMs || this.#left <= 0) return 0;
    const isMoney = /POST|Lane|payRetry|makeDeposits|answer/.test(what);
    const lots = this.#lots.next();
    if (lots < (isMoney ? 0.02 : 0.0002) && this.#kinds.has("freeze")) {
      this.#freeze(node);
    } else if (lots < (isMoney ? 0.03 : 0.0003) && this.#kinds.has("kill")) {
      this.#kill(node);
    } else if (lots > 0.98 && this.#kinds.has("lag")) {
      return this.#lots.stretched(10, 8_000);
    }
    return 0;
  }

  #freeze(node: ProcessNode): void {
    const forMs = this.#lots.stretched(3_000, 120_000);
    this.#left -= 1;
    if (this.#plan.count()) this.#world.freeze(node, forMs);
  }

  #kill(node: ProcessNode): void {
    const downMs = this.#lots.stretched(1_000, 60_000);
    this.#left -= 1;
    if (!this.#plan.count()) return;
    this.#world.kill(node, "is killed");
    this.#world.later(downMs, "restart", () => this.#restart(node));
  }
}
