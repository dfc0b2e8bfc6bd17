import { vi } from "vitest";
import { SIGNAL } from "../../src/contracts/names.ts";
import * as workflows from "../../workflows/index.ts";
import { heartbeat } from "../simulation/temporal/activity-stand-in.ts";
import type { Activities } from "../simulation/temporal/activity-task.ts";
import type { Execution } from "../simulation/temporal/execution.ts";
import { TemporalServer } from "../simulation/temporal/server.ts";
import type { Stream } from "../simulation/world/random.ts";
import { World } from "../simulation/world/world.ts";

const ID = "the-workflow";

const BEAT_MS = 4_000;

/** More steps than any test here needs. */
const STEPS_MOST = 200_000;

/**
 * A workflow on the simulation's stand-in for Temporal, in virtual time, with stubbed activities.
 */
export class Scene {
  readonly world: World;
  readonly #server: TemporalServer;

  /** @param longest events of an execution before it is told to continue as new */
  constructor(startsMs: number, longest = 4_000, seed = 1) {
    this.world = new World(seed, startsMs);
    this.#server = new TemporalServer(this.world, workflows, longest);
    vi.spyOn(Date, "now").mockImplementation(() => this.world.nowMs);
  }

  get nowMs(): number {
    return this.world.nowMs;
  }

  get execution(): Execution {
    const execution = this.#server.latest.get(ID);
    if (execution === undefined) throw new Error("nothing was started");
    return execution;
  }

  /** The number of executions so far, one after the other. */
  get executions(): number {
    return this.#server.all.length;
  }

  stream(name: string): Stream {
    return this.world.stream(name);
  }

  start(type: string, input: object, activities: Record<string, (input: never) => unknown>): void {
    const asynchronous = Object.entries(activities).map(([name, activity]) => [
      name,
      async (given: never) => activity(given),
    ]);
    const worker = this.world.makeNode("worker", "worker");
    this.#server.addWorker(worker, Object.fromEntries(asynchronous) as Activities);
    this.#server.start(type, ID, [input]);
  }

  /** Runs an action at an instant. */
  at(atMs: number, what: () => void): void {
    this.world.later(atMs - this.world.nowMs, "a test", what);
  }

  /** Signals the workflow to look. */
  tell(): boolean {
    return this.#server.signal(ID, SIGNAL.eventsArrived, []);
  }

  /** Takes up time as an activity would, with a heartbeat now and then. */
  async takes(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= BEAT_MS) {
      await new Promise<void>((go) => {
        this.world.after(Math.min(leftMs, BEAT_MS), "work", go);
      });
      heartbeat();
    }
  }

  async until(untilMs: number): Promise<void> {
    const end = await this.world.run(() => false, { untilMs, steps: STEPS_MOST });
    if (end === "steps") throw new Error("it turns for nothing");
  }
}
