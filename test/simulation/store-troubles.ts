import type { FaultPlan } from "./service/kinds.ts";
import type { StoreFile } from "./store-file.ts";
import type { Stream } from "./world/random.ts";
import type { World } from "./world/world.ts";

/** What may happen to the store's machine. */
export const STORE_TROUBLES = [
  /** The file is lost, and a backup takes its place. */
  "restore",
  /** The power fails: unflushed commits may be lost. */
  "power-cut",
] as const;
export type StoreTrouble = (typeof STORE_TROUBLES)[number];

/** Boundaries at which something has just been written, or is under way. */
const WRITING = /POST|payBills|cancelPayments|payAgain|makeDeposits|answer|committed/;

/** The latest time at which it happens if nothing is written. */
const AT_LATEST_MS = 60_000;

/** Replaces the store's file while no process has it open. */
export interface Machine {
  readonly file: StoreFile;
  /** Kills all processes, replaces the file and starts them again later. */
  readonly replace: (why: string, downMs: number) => void;
  /** Called after a backup was restored: the engine can't know what was said since. */
  readonly restored: (backedUpMs: number) => void;
}

interface Armed {
  readonly when: () => boolean;
  readonly strike: () => void;
}

/** Loses the store, in whole or in part: all processes of its machine die with it. */
export class StoreTroubles {
  readonly #world: World;
  readonly #plan: FaultPlan;
  readonly #kinds: ReadonlySet<StoreTrouble>;
  readonly #machine: Machine;
  /** What strikes at the next boundary at which something is written. */
  #armed: Armed | undefined;

  constructor(world: World, plan: FaultPlan, kinds: ReadonlySet<StoreTrouble>, machine: Machine) {
    this.#world = world;
    this.#plan = plan;
    this.#kinds = kinds;
    this.#machine = machine;
  }

  begin(): void {
    if (this.#kinds.has("restore")) this.#restoreOnce();
    if (!this.#kinds.has("power-cut")) return;
    const lots = this.#world.stream("power-cut");
    for (let time = lots.between(1, 3); time > 0; time -= 1) {
      const { file } = this.#machine;
      const when = (): boolean => file.hasUnflushed;
      this.#strikeAt(this.#soon(lots), { when, strike: () => this.#cut(lots) });
    }
  }

  /** Called at each boundary of a process. */
  at(what: string): void {
    if (this.#armed !== undefined && WRITING.test(what) && this.#armed.when()) this.#strike();
  }

  #restoreOnce(): void {
    const lots = this.#world.stream("restore");
    const { file, replace, restored } = this.#machine;
    const backupMs = this.#soon(lots);
    const mostMs = Math.max(2_000, this.#plan.healsAtMs - this.#world.nowMs - backupMs);
    const lossMs = backupMs + lots.stretched(500, mostMs);
    const downMs = lots.stretched(1_000, 3_600_000);
    let backedUpMs = 0;
    this.#world.later(backupMs, "backup", () => {
      backedUpMs = this.#world.nowMs;
      file.copy();
      this.#world.tell("store", "is backed up");
    });
    const strike = (): void => {
      this.#world.tell("store", "is lost, and restored from its backup");
      replace("dies with the store", downMs);
      restored(backedUpMs);
    };
    this.#strikeAt(lossMs, { when: () => true, strike });
  }

  #cut(lots: Stream): void {
    const { file, replace } = this.#machine;
    file.copy();
    const lost = file.cut(lots);
    this.#world.tell("store", `loses power, and with it ${lost} pages that were not flushed`);
    replace("loses power", lots.stretched(1_000, 600_000));
  }

  /** Returns a time that is mostly while the first bills are being paid. */
  #soon(lots: Stream): number {
    const mostMs = Math.max(30_000, this.#plan.healsAtMs - this.#world.nowMs);
    return lots.chance(0.6) ? lots.between(5_000, 200_000) : lots.stretched(5_000, mostMs);
  }

  #strikeAt(afterMs: number, armed: Armed): void {
    this.#world.later(afterMs, "the store", () => {
      if (this.#world.nowMs >= this.#plan.healsAtMs || !this.#plan.count()) return;
      this.#armed = armed;
      this.#world.later(AT_LATEST_MS, "the store", () => {
        if (this.#armed === armed) this.#strike();
      });
    });
  }

  #strike(): void {
    const armed = this.#armed;
    this.#armed = undefined;
    armed?.strike();
  }
}
