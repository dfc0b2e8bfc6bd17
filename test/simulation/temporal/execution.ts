import { AsyncLocalStorage } from "node:async_hooks";
import { ActivityFailure, ApplicationFailure } from "@temporalio/common";
import type { ProcessNode, World } from "../world/world.ts";

/** An activity's options, in milliseconds. */
export interface ActivityOptions {
  readonly startToCloseMs: number;
  readonly heartbeatMs: number | undefined;
  readonly initialMs: number;
  readonly maximumMs: number;
  readonly attempts: number;
}

/** What a workflow receives, in order: its history. */
export type Job =
  | { readonly kind: "start"; readonly atMs: number }
  | { readonly kind: "timer"; readonly atMs: number; readonly number: number }
  | {
      readonly kind: "activity";
      readonly atMs: number;
      readonly number: number;
      readonly result: unknown;
      readonly failure: Error | undefined;
    }
  | {
      readonly kind: "signal";
      readonly atMs: number;
      readonly name: string;
      readonly input: readonly unknown[];
    };

/** Thrown by a workflow that continues as a new execution. */
export class ContinueAsNew extends Error {
  readonly input: readonly unknown[];

  constructor(input: readonly unknown[]) {
    super("continues as new");
    this.input = input;
  }
}

/** What an execution requests from the server. */
export interface Asks {
  activity(
    of: Execution,
    task: {
      readonly number: number;
      readonly type: string;
      readonly input: readonly unknown[];
      readonly options: ActivityOptions;
    },
  ): void;
  timer(of: Execution, number: number, atMs: number): void;
  ended(of: Execution): void;
  /** Called when this many events were added to its history. */
  wrote(of: Execution, events: number): void;
}

/** Events that Temporal writes for each job, and for the task in which the workflow receives it. */
const EVENTS = { start: 1, timer: 1, activity: 2, signal: 1 } as const;
const EVENTS_A_TASK = 3;

type WorkflowFunction = (...input: readonly unknown[]) => Promise<unknown>;

interface Waiting {
  readonly isTrue: () => boolean;
  readonly resolve: () => void;
}

interface Settle {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export type ExecutionState = "running" | "completed" | "failed" | "continued" | "terminated";

const here = new AsyncLocalStorage<Execution>();

/** Returns the workflow whose code runs now. @throws outside of one */
export function executionHere(): Execution {
  const execution = here.getStore();
  if (execution === undefined) throw new Error("this is not called by a workflow");
  return execution;
}

/** One execution of a workflow: the real code, and what it waits for. */
export class Execution {
  readonly workflowId: string;
  readonly type: string;
  readonly input: readonly unknown[];
  readonly startedMs: number;
  readonly heard: Job[] = [];
  readonly node: ProcessNode;
  state: ExecutionState = "running";
  closedMs = 0;
  failure: unknown;
  next: readonly unknown[] | undefined;
  /** Number of jobs after which it is told to continue as new. */
  readonly longest: number;
  readonly queries = new Map<string, () => unknown>();
  /** Its search attributes in Temporal's list, by name. */
  readonly searchAttributes = new Map<string, unknown>();
  readonly #signals = new Map<string, (...input: readonly unknown[]) => unknown>();
  readonly #unhandled: { name: string; input: readonly unknown[] }[] = [];
  readonly #waiting = new Set<Waiting>();
  readonly #settles = new Map<number, Settle>();
  readonly #asked = new Map<number, () => void>();
  readonly #world: World;
  readonly #asks: Asks;
  readonly #code: WorkflowFunction;
  #handlers = 0;
  #number = 0;
  #replaying = false;

  constructor(
    world: World,
    asks: Asks,
    made: {
      readonly workflowId: string;
      readonly type: string;
      readonly input: readonly unknown[];
      readonly code: WorkflowFunction;
      readonly longest: number;
    },
  ) {
    this.#world = world;
    this.#asks = asks;
    this.#code = made.code;
    this.workflowId = made.workflowId;
    this.type = made.type;
    this.input = made.input;
    this.longest = made.longest;
    this.startedMs = world.nowMs;
    this.node = world.makeNode(`workflow ${made.workflowId}`, "temporal");
  }

  get isLong(): boolean {
    return this.heard.length >= this.longest;
  }

  get allHandlersFinished(): boolean {
    return this.#handlers === 0;
  }

  /** Applies one job; its consequences run until the next drain. */
  hear(job: Job): void {
    this.heard.push(job);
    this.wrote(EVENTS[job.kind] + EVENTS_A_TASK);
    this.#world.in(this.node, () => here.run(this, () => this.#apply(job)));
  }

  wrote(events: number): void {
    if (!this.#replaying) this.#asks.wrote(this, events);
  }

  /** Sets whether it replays its history, during which it requests nothing again. */
  replay(isReplaying: boolean, skewMs: number): void {
    this.#replaying = isReplaying;
    this.node.skewMs = skewMs;
    if (isReplaying) return;
    for (const ask of this.#asked.values()) ask();
    this.#asked.clear();
  }

  /** Checks its conditions; true if one became true. */
  settle(): boolean {
    let moved = false;
    this.#world.in(this.node, () =>
      here.run(this, () => {
        for (const waiting of this.#waiting) {
          if (!waiting.isTrue()) continue;
          this.#waiting.delete(waiting);
          waiting.resolve();
          moved = true;
        }
      }),
    );
    return moved;
  }

  condition(isTrue: () => boolean, timeoutMs: number | undefined): Promise<boolean> {
    if (isTrue()) return Promise.resolve(true);
    return new Promise((resolve) => {
      let number = -1;
      const waiting: Waiting = {
        isTrue,
        resolve: () => {
          // Its timer is cancelled and has no effect.
          if (this.#settled(number) !== undefined) this.wrote(1);
          resolve(true);
        },
      };
      this.#waiting.add(waiting);
      if (timeoutMs === undefined) return;
      number = this.#nextNumber();
      const atMs = this.#nowMs() + Math.max(1, timeoutMs);
      const over = (): void => {
        if (this.#waiting.delete(waiting)) resolve(isTrue());
      };
      this.#settles.set(number, { resolve: over, reject: over });
      this.#ask(number, () => this.#asks.timer(this, number, atMs));
    });
  }

  /** False for a timer that was cancelled after it began. */
  waitsForTimer(number: number): boolean {
    return this.#settles.has(number);
  }

  activity(type: string, input: readonly unknown[], options: ActivityOptions): Promise<unknown> {
    const number = this.#nextNumber();
    return new Promise((resolve, reject) => {
      this.#settles.set(number, { resolve, reject });
      this.#ask(number, () => this.#asks.activity(this, { number, type, input, options }));
    });
  }

  setSignal(name: string, handler: (...input: readonly unknown[]) => unknown): void {
    this.#signals.set(name, handler);
    for (const waiting of this.#unhandled.splice(0)) this.#signal(waiting.name, waiting.input);
  }

  #apply(job: Job): void {
    switch (job.kind) {
      case "start":
        void this.#main();
        return;
      case "signal":
        this.#signal(job.name, job.input);
        return;
      case "timer":
        this.#settled(job.number)?.resolve(undefined);
        return;
      case "activity": {
        const settle = this.#settled(job.number);
        if (job.failure === undefined) settle?.resolve(job.result);
        else settle?.reject(job.failure);
      }
    }
  }

  async #main(): Promise<void> {
    try {
      await this.#code(...this.input);
      this.#close("completed");
    } catch (error) {
      if (error instanceof ContinueAsNew) {
        this.next = error.input;
        this.#close("continued");
        return;
      }
      this.failure = error;
      const isExpected = error instanceof ApplicationFailure || error instanceof ActivityFailure;
      if (!isExpected) this.#world.failure ??= error instanceof Error ? error : new Error("failed");
      this.#close("failed");
    }
  }

  #close(state: ExecutionState): void {
    this.state = state;
    this.closedMs = this.#world.nowMs;
    this.wrote(1);
    if (!this.#replaying) this.#asks.ended(this);
  }

  #signal(name: string, input: readonly unknown[]): void {
    const handler = this.#signals.get(name);
    if (handler === undefined) {
      this.#unhandled.push({ name, input });
      return;
    }
    this.#handlers += 1;
    void Promise.resolve(handler(...input)).finally(() => {
      this.#handlers -= 1;
    });
  }

  #settled(number: number): Settle | undefined {
    const settle = this.#settles.get(number);
    this.#settles.delete(number);
    this.#asked.delete(number);
    return settle;
  }

  #ask(number: number, ask: () => void): void {
    this.wrote(1);
    if (this.#replaying) this.#asked.set(number, ask);
    else ask();
  }

  #nextNumber(): number {
    this.#number += 1;
    return this.#number;
  }

  #nowMs(): number {
    return this.#world.nowMs + this.node.skewMs;
  }
}
