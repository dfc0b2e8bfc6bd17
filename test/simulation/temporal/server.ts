import type { Stream } from "../world/random.ts";
import type { ProcessNode, World } from "../world/world.ts";
import { ActivityTask, type Activities, type TaskServer } from "./activity-task.ts";
import { type Asks, Execution, type Job } from "./execution.ts";

type Code = (...input: readonly unknown[]) => Promise<unknown>;

interface Worker {
  readonly node: ProcessNode;
  readonly activities: Activities;
}

/** Milliseconds that a task, a signal or an answer is under way. */
const TRAVEL_MS = 12;

export interface ScheduleState {
  readonly paused: boolean;
  readonly note: string;
}

/**
 * A Temporal server for the simulation: executions with their histories, activities with retries,
 * heartbeats and time-outs, signals, continue-as-new, and resets to an earlier task.
 */
export class TemporalServer implements Asks, TaskServer {
  readonly world: World;
  /** False while it can't be reached. */
  isUp = true;
  /** Called with the events that are added to histories, task by task. */
  atEvents: ((of: Execution, events: number) => void) | undefined;
  /** The latest execution of each id. */
  readonly latest = new Map<string, Execution>();
  readonly all: Execution[] = [];
  readonly schedules = new Map<string, ScheduleState>();
  readonly #workers: Worker[] = [];
  readonly #code: Readonly<Record<string, unknown>>;
  readonly #stream: Stream;
  readonly #dirty = new Set<Execution>();
  readonly #waiting = new Map<Execution, Job[]>();
  readonly #longest: number;

  /** @param longest jobs of an execution after which it is told to continue as new */
  constructor(world: World, code: Readonly<Record<string, unknown>>, longest: number) {
    this.world = world;
    this.#code = code;
    this.#longest = longest;
    this.#stream = world.stream("temporal");
    world.settle = () => this.#settle();
  }

  addWorker(node: ProcessNode, activities: Activities): void {
    this.#workers.push({ node, activities });
  }

  /** Starts an execution, or joins the running one. */
  start(type: string, workflowId: string, input: readonly unknown[]): Execution {
    const running = this.latest.get(workflowId);
    if (running?.state === "running") return running;
    return this.#begin(type, workflowId, input);
  }

  /** @returns false if none of this id runs */
  signal(workflowId: string, name: string, input: readonly unknown[]): boolean {
    const execution = this.latest.get(workflowId);
    if (execution?.state !== "running") return false;
    this.deliver(execution, { kind: "signal", atMs: 0, name, input });
    return true;
  }

  terminate(workflowId: string): void {
    const execution = this.latest.get(workflowId);
    if (execution?.state !== "running") return;
    execution.state = "terminated";
    execution.closedMs = this.world.nowMs;
  }

  /**
   * Resets an execution to an earlier moment; signals since then are applied again. It can't be
   * reset to before its first task.
   */
  reset(execution: Execution, keep: number): void {
    if (execution.state !== "running" || execution.heard.length === 0) return;
    this.world.tell("temporal", `${execution.workflowId} is reset to task ${keep}`);
    execution.state = "terminated";
    const again = this.#make(execution.type, execution.workflowId, execution.input);
    const heard = execution.heard.slice(0, Math.max(1, keep));
    const since = [...execution.heard.slice(heard.length), ...this.#waitingOf(execution)];
    this.#waiting.set(
      again,
      since.filter(({ kind }) => kind === "signal"),
    );
    this.#replay(again, heard);
  }

  activity(of: Execution, asked: Parameters<Asks["activity"]>[1]): void {
    const task = new ActivityTask(this, of, asked);
    this.world.later(TRAVEL_MS, "schedule activity", () => task.begin());
  }

  timer(of: Execution, number: number, atMs: number): void {
    const afterMs = atMs - this.world.nowMs;
    const over = (): void => {
      if (of.waitsForTimer(number)) this.deliver(of, { kind: "timer", atMs: 0, number });
    };
    this.world.later(afterMs, "workflow timer", over);
  }

  ended(of: Execution): void {
    if (of.state !== "continued") return;
    const next = this.#begin(of.type, of.workflowId, of.next ?? []);
    for (const job of this.#waitingOf(of)) {
      if (job.kind === "signal") this.deliver(next, job);
    }
    this.#waiting.delete(of);
  }

  wrote(of: Execution, events: number): void {
    this.atEvents?.(of, events);
  }

  /** Returns a worker that can take a task now. */
  workerFor(): Worker | undefined {
    const able = this.#workers.filter(
      ({ node }) => node.alive && node.frozenUntilMs <= this.world.nowMs,
    );
    return this.isUp && able.length > 0 ? this.#stream.pick(able) : undefined;
  }

  /** Delivers a job to an execution, once a worker can run it. */
  deliver(execution: Execution, job: Job): void {
    const queue = this.#waitingOf(execution);
    queue.push(job);
    this.#waiting.set(execution, queue);
    if (queue.length === 1) this.#pump(execution, TRAVEL_MS);
  }

  #pump(execution: Execution, delayMs: number): void {
    this.world.later(delayMs, "workflow task", () => {
      if (execution.state !== "running") return;
      if (this.workerFor() === undefined) {
        this.#pump(execution, 1_000);
        return;
      }
      const queue = this.#waitingOf(execution);
      const job = queue.shift();
      if (job === undefined) return;
      if (queue.length > 0) this.#pump(execution, 1);
      this.#dirty.add(execution);
      execution.hear({ ...job, atMs: this.world.nowMs });
    });
  }

  #waitingOf(execution: Execution): Job[] {
    return this.#waiting.get(execution) ?? [];
  }

  #begin(type: string, workflowId: string, input: readonly unknown[]): Execution {
    const execution = this.#make(type, workflowId, input);
    this.deliver(execution, { kind: "start", atMs: 0 });
    return execution;
  }

  #make(type: string, workflowId: string, input: readonly unknown[]): Execution {
    const code = this.#code[type];
    if (typeof code !== "function") throw new Error(`there is no workflow ${type}`);
    const execution = new Execution(this.world, this, {
      workflowId,
      type,
      input: JSON.parse(JSON.stringify(input)) as readonly unknown[],
      code: code as Code,
      longest: this.#longest,
    });
    this.latest.set(workflowId, execution);
    this.all.push(execution);
    return execution;
  }

  #replay(execution: Execution, heard: readonly Job[]): void {
    const [job, ...rest] = heard;
    if (job === undefined) {
      execution.replay(false, 0);
      if (this.#waitingOf(execution).length > 0) this.#pump(execution, TRAVEL_MS);
      return;
    }
    execution.replay(true, job.atMs - this.world.nowMs);
    this.#dirty.add(execution);
    execution.hear(job);
    this.world.later(0, "replay", () => this.#replay(execution, rest));
  }

  #settle(): boolean {
    let moved = false;
    for (const execution of this.#dirty) {
      const isRunning = execution.state === "running";
      if (isRunning && execution.settle()) moved = true;
    }
    if (!moved) this.#dirty.clear();
    return moved;
  }
}
