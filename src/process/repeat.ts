import { setTimeout as sleep } from "node:timers/promises";

/** Work that a process does again and again. */
export interface Repeated {
  /** Lets the work in progress finish; none begins afterwards. */
  stop(): Promise<void>;
}

/**
 * Does something at once, and again after each pause, until it is stopped. It never runs twice at
 * the same time, and its pauses keep no process alive.
 *
 * @param work returns how long to pause, in milliseconds; its signal is aborted on stop
 * @param failed gets what `work` threw, and returns the same
 */
export function repeat(
  work: (signal: AbortSignal) => Promise<number>,
  failed: (error: unknown) => number,
): Repeated {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      const pauseMs = await work(signal).catch(failed);
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const running = loop();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Returns an error's message, for a log line. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
