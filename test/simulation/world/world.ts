import { AsyncLocalStorage } from "node:async_hooks";
import { createHash, type Hash } from "node:crypto";
import { type Due, Heap } from "./heap.ts";
import { Stream } from "./random.ts";

const realImmediate = setImmediate;

/** A process of the simulation. What its code awaits belongs to it, timers included. */
export interface ProcessNode {
  readonly id: string;
  readonly kind: "worker" | "gateway" | "person" | "temporal" | "service";
  /** Difference of its wall clock from the world's time. */
  skewMs: number;
  alive: boolean;
  /** The instant until which none of its code runs, as after SIGSTOP. */
  frozenUntilMs: number;
  /** Called when it dies. */
  readonly atDeath: (() => void)[];
  readonly parked: Step[];
}

interface Step {
  readonly node: ProcessNode | undefined;
  readonly what: string;
  readonly go: () => void;
}

export interface TimerEntry extends Due, Step {
  readonly resume: () => void;
  cancelled: boolean;
}

const here = new AsyncLocalStorage<ProcessNode>();
/** Runs code in the context that loads this file: as no process. */
const asNobody = AsyncLocalStorage.snapshot();
const background = new AsyncLocalStorage<boolean>();

/** Runs idle loops. */
export function inBackground<T>(work: () => T): T {
  return background.run(true, work);
}

export function isBackground(): boolean {
  return background.getStore() === true;
}

/** Returns the process whose code runs now. */
export function nodeHere(): ProcessNode | undefined {
  return here.getStore();
}

/** An entry of the trace: an instant, a process and words. */
interface Told {
  readonly atMs: number;
  readonly who: string;
  readonly what: string;
}

/**
 * One process with virtual time: everything that waits is parked here under a name and resumed one
 * by one, in an order that the seed chooses. Time passes only when nothing is ready.
 */
export class World {
  readonly seed: number;
  readonly startedMs: number;
  nowMs: number;
  steps = 0;
  readonly told: Told[] = [];
  /** Called at each boundary of a process; may freeze it, kill it or return a delay. */
  atBoundary: ((node: ProcessNode, what: string) => number) | undefined;
  /** Called after each step; a violation is thrown from here. */
  afterStep: (() => void) | undefined;
  /** Runs what became ready inside one step, such as conditions of workflows. */
  settle: (() => boolean) | undefined;
  failure: Error | undefined;
  readonly #ready: Step[] = [];
  readonly #timers = new Heap<TimerEntry>();
  readonly #order: Stream;
  readonly #hash: Hash = createHash("sha256");
  #number = 0;

  constructor(seed: number, startedMs: number) {
    this.seed = seed;
    this.startedMs = startedMs;
    this.nowMs = startedMs;
    this.#order = this.stream("order");
  }

  stream(name: string): Stream {
    return new Stream(this.seed, name);
  }

  makeNode(id: string, kind: ProcessNode["kind"], skewMs = 0): ProcessNode {
    return { id, kind, skewMs, alive: true, frozenUntilMs: 0, atDeath: [], parked: [] };
  }

  /** Runs code as a process; after each await it still runs as that process. */
  in<T>(node: ProcessNode, work: () => T): T {
    return here.run(node, work);
  }

  /**
   * Does something later as no process, so that it happens even if the caller has died or is
   * frozen.
   */
  later(delayMs: number, what: string, go: () => void): TimerEntry {
    return asNobody(() => this.after(delayMs, what, go));
  }

  /** Parks the caller under a name until its turn comes. */
  boundary(what: string, delayMs = 0): Promise<void> {
    const node = nodeHere();
    const more = node === undefined ? 0 : (this.atBoundary?.(node, what) ?? 0);
    const waitMs = delayMs + more;
    return new Promise((go) => {
      if (waitMs > 0) this.after(waitMs, what, go);
      else this.#ready.push({ node, what, go });
    });
  }

  /** Does something later as the calling process. */
  after(delayMs: number, what: string, go: () => void): TimerEntry {
    return this.at(this.nowMs + Math.max(0, delayMs), what, go);
  }

  at(atMs: number, what: string, go: () => void): TimerEntry {
    this.#number += 1;
    const inContext = AsyncLocalStorage.snapshot();
    const entry: TimerEntry = {
      atMs: Math.max(atMs, this.nowMs),
      number: this.#number,
      node: nodeHere(),
      what,
      resume: () => inContext(go),
      // It may be cleared between its time and its turn.
      go: () => {
        if (!entry.cancelled) entry.resume();
      },
      cancelled: false,
    };
    this.#timers.add(entry);
    return entry;
  }

  /** Moves a timer to another instant, still as the process that made it. */
  hurry(entry: TimerEntry, atMs: number): TimerEntry {
    this.#number += 1;
    entry.cancelled = true;
    const { node, what, resume } = entry;
    const again: TimerEntry = {
      atMs: Math.max(atMs, this.nowMs),
      number: this.#number,
      node,
      what,
      resume,
      go: () => {
        if (!again.cancelled) resume();
      },
      cancelled: false,
    };
    this.#timers.add(again);
    return again;
  }

  tell(who: string, what: string): void {
    this.told.push({ atMs: this.nowMs, who, what });
    this.#hash.update(`${this.nowMs} ${who} ${what}\n`);
  }

  kill(node: ProcessNode, why: string): void {
    if (!node.alive) return;
    node.alive = false;
    this.tell(node.id, why);
    for (const work of node.atDeath) work();
  }

  freeze(node: ProcessNode, forMs: number): void {
    if (!node.alive || node.frozenUntilMs > this.nowMs) return;
    node.frozenUntilMs = this.nowMs + forMs;
    this.tell(node.id, `is frozen for ${(forMs / 1000).toFixed(1)} s`);
    this.later(forMs, "thaw", () => {
      this.tell(node.id, "goes on");
      this.#ready.push(...node.parked.splice(0));
    });
  }

  /** What has happened so far as one number, which is the same for the same seed. */
  get fingerprint(): string {
    return this.#hash.copy().digest("hex").slice(0, 16);
  }

  /** Runs until there is an answer, nothing is left, or the time or the steps are over. */
  async run(
    isOver: () => boolean,
    limits: { readonly untilMs: number; readonly steps: number },
  ): Promise<"over" | "idle" | "time" | "steps"> {
    const lastStep = this.steps + limits.steps;
    for (;;) {
      await drained();
      while (this.settle?.() === true) await drained();
      this.afterStep?.();
      if (this.failure !== undefined) throw this.failure;
      if (isOver()) return "over";
      if (this.steps >= lastStep) return "steps";
      const step = this.#next(limits.untilMs);
      if (step === "time" || step === "idle") return step;
      this.steps += 1;
      this.#hash.update(`${step.node?.id ?? ""} ${step.what}\n`);
      step.go();
    }
  }

  #next(untilMs: number): Step | "time" | "idle" {
    for (;;) {
      const step = this.#takeReady() ?? this.#takeTimer(untilMs);
      if (typeof step === "string") return step;
      const { node } = step;
      if (node === undefined) return step;
      if (!node.alive) continue;
      if (node.frozenUntilMs <= this.nowMs) return step;
      node.parked.push(step);
    }
  }

  #takeReady(): Step | undefined {
    const ready = this.#ready;
    if (ready.length === 0) return undefined;
    const at = ready.length === 1 ? 0 : this.#order.between(0, ready.length - 1);
    const step = ready[at];
    const last = ready.pop();
    if (last !== undefined && at < ready.length) ready[at] = last;
    return step;
  }

  #takeTimer(untilMs: number): Step | "time" | "idle" {
    for (;;) {
      const { first } = this.#timers;
      if (first === undefined) return "idle";
      if (first.atMs > untilMs) return "time";
      this.#timers.take();
      if (first.cancelled) continue;
      this.nowMs = Math.max(this.nowMs, first.atMs);
      return first;
    }
  }
}

/** A resolved promise is not enough: its continuations may take several turns. */
function drained(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve));
}
