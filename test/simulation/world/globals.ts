import crypto, { type BinaryLike } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { IdleLoops } from "./idle-loops.ts";
import { isBackground, nodeHere, type TimerEntry, type World } from "./world.ts";
import type { Stream } from "./random.ts";

let world: World | undefined;
let uuids: Stream | undefined;
let idle: IdleLoops | undefined;

/**
 * Sets the world whose time everything uses; undefined for the machine's own.
 *
 * @param idleMs longest sleep of an idle loop
 */
export function enter(next: World | undefined, idleMs = 0): void {
  world = next;
  uuids = next?.stream("uuids");
  idle = next === undefined ? undefined : new IdleLoops(next, idleMs);
}

/** Returns the running world. @throws if there is none */
export function worldHere(): World {
  if (world === undefined) throw new Error("no world runs");
  return world;
}

/** Wakes idle loops some time after another process has written. */
export function wakeIdleLoops(hasEvents: boolean): void {
  if (!isBackground()) idle?.wake(hasEvents);
}

/** A timer of the simulated process, with which it can be cleared. */
class VirtualTimer {
  readonly #every: number | undefined;
  readonly #what: () => void;
  #entry: TimerEntry | undefined;

  constructor(what: () => void, ms: number, repeats: boolean) {
    this.#what = what;
    this.#every = repeats ? Math.max(1, ms) : undefined;
    this.#start(ms);
  }

  #start(ms: number): void {
    this.#entry = worldHere().after(Math.max(1, ms), "timer", () => {
      this.#entry = undefined;
      if (this.#every !== undefined) this.#start(this.#every);
      this.#what();
    });
  }

  clear(): void {
    if (this.#entry !== undefined) this.#entry.cancelled = true;
    this.#entry = undefined;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.clear();
  }
}

/** Replaces clocks, timers and random numbers before any code of the engine is loaded. */
function install(): void {
  const real = {
    now: Date.now.bind(Date),
    performanceNow: performance.now.bind(performance),
    setTimeout: globalThis.setTimeout,
    setInterval: globalThis.setInterval,
    clearTimeout: globalThis.clearTimeout,
    sleep: timers.setTimeout,
    immediate: timers.setImmediate,
    random: Math.random.bind(Math),
    randomUUID: crypto.randomUUID.bind(crypto),
    randomBytes: crypto.randomBytes.bind(crypto),
  };
  // Whole milliseconds like a real clock: the trail rounds fractions down, other tables up.
  Date.now = () =>
    world === undefined ? real.now() : Math.floor(world.nowMs + (nodeHere()?.skewMs ?? 0));
  performance.now = () =>
    world === undefined ? real.performanceNow() : world.nowMs - world.startedMs + 1_000;
  Math.random = () => (uuids === undefined ? real.random() : uuids.next());
  replaceTimers(real);
  const sleep = async (ms = 1, value?: unknown, options: SleepOptions = {}): Promise<unknown> => {
    if (world === undefined) return real.sleep(ms, value, options);
    await waited(ms, options);
    return value;
  };
  const immediate = async (value?: unknown): Promise<unknown> => {
    if (world === undefined) return real.immediate(value);
    await world.boundary("immediate");
    return value;
  };
  Object.assign(timers, { setTimeout: sleep, setImmediate: immediate });
  Object.assign(crypto, {
    randomUUID: () => {
      if (uuids === undefined) return real.randomUUID();
      const hex = uuids.hex(30);
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-a${hex.slice(15, 18)}-${hex.slice(18)}`;
    },
    randomBytes: (size: number): BinaryLike =>
      uuids === undefined ? real.randomBytes(size) : Buffer.from(uuids.hex(size * 2), "hex"),
  });
  syncBuiltinESMExports();
}

interface SleepOptions {
  readonly signal?: AbortSignal;
  readonly ref?: boolean;
}

function waited(ms: number, { signal, ref }: SleepOptions): Promise<void> {
  const inWorld = worldHere();
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(new DOMException("The operation was aborted", "AbortError"));
      return;
    }
    const cancel =
      idle !== undefined && isBackground() && isIdleLoop(ms, ref)
        ? idle.sleep(ms, resolve)
        : cancelling(inWorld.after(Math.max(1, ms), "sleep", resolve));
    const stop = () => {
      cancel();
      reject(new DOMException("The operation was aborted", "AbortError"));
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** True for the pauses of idle loops, which only look whether there is something to do. */
function isIdleLoop(ms: number, ref: boolean | undefined): boolean {
  return ms === 500 || (ref === false && ms >= 60_000);
}

function cancelling(entry: TimerEntry): () => void {
  return () => {
    entry.cancelled = true;
  };
}

function replaceTimers(real: {
  readonly setTimeout: typeof globalThis.setTimeout;
  readonly setInterval: typeof globalThis.setInterval;
  readonly clearTimeout: typeof globalThis.clearTimeout;
}): void {
  const make =
    (realMake: (what: () => void, ms?: number) => unknown, repeats: boolean) =>
    (what: (...given: unknown[]) => void, ms = 1, ...given: unknown[]): unknown => {
      const call = () => what(...given);
      return world === undefined ? realMake(call, ms) : new VirtualTimer(call, ms, repeats);
    };
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.clear();
    else if (timer !== undefined && timer !== null) real.clearTimeout(timer as NodeJS.Timeout);
  };
  Object.assign(globalThis, {
    setTimeout: make((what, ms) => real.setTimeout(what, ms), false),
    setInterval: make((what, ms) => real.setInterval(what, ms), true),
    clearTimeout: clear,
    clearInterval: clear,
  });
  const timeoutOf = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (ms: number): AbortSignal => {
    if (world === undefined) return timeoutOf(ms);
    const controller = new AbortController();
    world.after(ms, "timeout", () => controller.abort());
    return controller.signal;
  };
}

install();
