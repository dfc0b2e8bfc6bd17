import { setTimeout as sleep } from "node:timers/promises";
import { expect, vi } from "vitest";

/**
 * How long a test waits for what must come, in milliseconds. The machine may be busy, most of all
 * beside other telling days.
 */
export const PATIENCE_MS = 120_000;

/** How `until` waits, if not as usual. */
interface Waiting<T> {
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
  /** Says why the test fails if the last value is not as wanted either. */
  readonly failure?: (last: T) => string | Promise<string>;
}

/** Reads until the value is as wanted; fails with the last value after {@link PATIENCE_MS}. */
export async function until<T, Wanted extends T>(
  read: () => T | Promise<T>,
  isWanted: (value: T) => value is Wanted,
  waiting?: Waiting<T>,
): Promise<Wanted>;
export async function until<T>(
  read: () => T | Promise<T>,
  isWanted: (value: T) => boolean,
  waiting?: Waiting<T>,
): Promise<T>;
export async function until<T>(
  read: () => T | Promise<T>,
  isWanted: (value: T) => boolean,
  waiting: Waiting<T> = {},
): Promise<T> {
  const {
    timeoutMs = PATIENCE_MS,
    intervalMs = 25,
    failure = (last: T) => `still ${JSON.stringify(last)}`,
  } = waiting;
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (isWanted(value)) return value;
    if (performance.now() > deadlineMs) throw new Error(await failure(value));
    await sleep(intervalMs);
  }
}

/** Waits until a condition holds; fails with what was waited for after {@link PATIENCE_MS}. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const options = { timeout: PATIENCE_MS, interval: 20 };
  await vi.waitFor(async () => expect(await holds(), what).toBe(true), options);
}
