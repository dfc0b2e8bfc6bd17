import { LET_THROUGH } from "./boundaries.ts";
import type { FaultPlan } from "./service/kinds.ts";
import type { TemporalServer } from "./temporal/server.ts";
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

/** Freezes, kills and slows processes at any boundary, mostly while money moves. */
export class Troubles {
  readonly #world: World;
  readonly #plan: FaultPlan;
  readonly #kinds: ReadonlySet<Trouble>;
  readonly #steady: string | undefined;
  readonly #temporal: TemporalServer;
  readonly #lots: Stream;
  readonly #restart: (node: ProcessNode) => void;
  #left: number;
  readonly #atGate: Stream;
  #leftAtGate: number;

  constructor(
    world: World,
    plan: FaultPlan,
    of: {
      readonly kinds: ReadonlySet<Trouble>;
      /** A process that no trouble strikes. */
      readonly steady: string | undefined;
      /** True if workers freeze between the gate and the first byte. */
      readonly isLateToLeave: boolean;
      readonly temporal: TemporalServer;
      readonly restart: (node: ProcessNode) => void;
    },
  ) {
    this.#temporal = of.temporal;
    this.#world = world;
    this.#plan = plan;
    this.#kinds = of.kinds;
    this.#steady = of.steady;
    this.#restart = of.restart;
    this.#lots = world.stream("troubles");
    this.#left = this.#lots.between(1, 12);
    this.#atGate = world.stream("troubles at the gate");
    this.#leftAtGate = of.isLateToLeave ? this.#atGate.between(1, 3) : 0;
  }

  begin(): void {
    this.#sometimes("temporal-away", (lots) => {
      const forMs = lots.stretched(2_000, 300_000);
      this.#world.tell("temporal", `is away for ${Math.round(forMs / 1_000)} s`);
      this.#temporal.isUp = false;
      this.#world.later(forMs, "temporal is back", () => {
        this.#temporal.isUp = true;
      });
    });
    this.#sometimes("reset", (lots) => {
      const running = [...this.#temporal.latest.values()].filter(
        ({ state }) => state === "running",
      );
      if (running.length === 0) return;
      const execution = lots.pick(running);
      this.#temporal.reset(execution, lots.between(1, execution.heard.length));
    });
  }

  /** Strikes one to three times, mostly soon after the first launches. */
  #sometimes(kind: Trouble, strike: (lots: Stream) => void): void {
    if (!this.#kinds.has(kind)) return;
    const lots = this.#world.stream(kind);
    const mostMs = this.#plan.healsAtMs - this.#world.nowMs;
    for (let time = lots.between(1, 3); time > 0; time -= 1) {
      this.#world.later(lots.stretched(15_000, mostMs), kind, () => {
        if (this.#plan.count()) strike(lots);
      });
    }
  }

  /** @returns how many milliseconds this boundary takes */
  at(node: ProcessNode, what: string): number {
    const { nowMs } = this.#world;
    if (node.kind !== "worker" && node.kind !== "gateway") return 0;
    if (node.id === this.#steady) return 0;
    if (nowMs >= this.#plan.healsAtMs) return 0;
    if (what === LET_THROUGH && this.#leftAtGate > 0 && this.#atGate.chance(0.5)) {
      this.#leftAtGate -= 1;
      if (this.#plan.count()) this.#world.freeze(node, this.#atGate.between(15_500, 60_000));
      return 0;
    }
    if (this.#left <= 0) return 0;
    const isMoney = /POST|payBills|cancelPayments|payAgain|makeDeposits|answer/.test(what);
    const lots = this.#lots.next();
    // The bytes are about to leave.
    const isLast = what.startsWith("connect POST");
    const often = isLast ? 0.05 : isMoney ? 0.02 : what.startsWith("committed") ? 0.004 : 0.0002;
    if (lots < often && this.#kinds.has("freeze")) {
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
