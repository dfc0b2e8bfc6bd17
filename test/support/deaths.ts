import { expect } from "vitest";
import { isLong } from "./long.ts";
import type { TestPayrun } from "./payrun.ts";
import type { FaultRule } from "./sandbox.ts";

/** Long enough for the test to find the workflow in the moment, shorter than a request may take. */
const MOMENT_MS = 8_000;

/** A moment of a workflow's life in which its worker dies. */
export interface Moment {
  /** Completes the sentence “the worker dies …”. */
  readonly when: string;
  /** True for the one moment that is tried in the short form. */
  readonly inShort?: boolean;
  /** The faults that make the moment last. */
  readonly faults?: readonly FaultRule[];
  /**
   * Brings the story to the point at which the moment may come, even if no other moment was tried.
   */
  readonly begin: () => Promise<unknown>;
  /** Resolves while the moment lasts. */
  readonly reached: () => Promise<unknown>;
  /** Ends, after the death, what made the moment last besides faults. */
  readonly over?: () => void;
}

/**
 * Ends the worker as a crash does in each of the moments, in their order, and lets a new one go on.
 * The long form tries all moments, the short form only the most informative one.
 */
export async function dieAt(payrun: TestPayrun, moments: readonly Moment[]): Promise<void> {
  const { control } = payrun.sandbox;
  for (const moment of moments.filter(({ inShort }) => isLong || inShort === true)) {
    await control.faults(moment.faults ?? []);
    if (payrun.workers.length === 0) await payrun.startWorker();
    await moment.begin();
    await moment.reached();
    await payrun.killWorkers("SIGKILL");
    moment.over?.();
    await control.faults([]);
  }
  if (payrun.workers.length === 0) await payrun.startWorker();
}

/** Returns a fault that delays a request's answer, or its arrival, for as long as a moment. */
export function slow(method: string, path: string, when: "before" | "after"): FaultRule {
  return { method, path, when, effect: "delay", delayMs: MOMENT_MS, times: 1 };
}

/** Returns a function that does a step of a story at its first call, and never again. */
export function once<T>(act: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => (done ??= act());
}

/** Waits until a worker is in the middle of an activity of this workflow. */
export async function untilAtWork(
  payrun: TestPayrun,
  workflowId: string,
  activity: string,
): Promise<void> {
  const started = async (): Promise<(string | null | undefined)[]> => {
    const { raw } = await payrun.temporal.workflow.getHandle(workflowId).describe();
    return (raw.pendingActivities ?? [])
      .filter(({ lastStartedTime }) => lastStartedTime !== null)
      .map(({ activityType }) => activityType?.name);
  };
  await expect.poll(started, { interval: 50 }).toContain(activity);
}

/** Waits until the ledger holds a request of this owner, answered or not. */
export async function untilWritten(payrun: TestPayrun, owner: string): Promise<void> {
  const written = async (): Promise<number> => {
    const { db } = payrun.store;
    const rows = await db
      .selectFrom("sends")
      .select("send_id")
      .where("owner", "=", owner)
      .execute();
    return rows.length;
  };
  await expect.poll(written, { interval: 50 }).toBeGreaterThan(0);
}

/** Waits until what is read equals what is wanted. */
export async function untilIs<T>(
  read: () => Promise<T>,
  wanted: T,
  intervalMs = 50,
): Promise<void> {
  await expect.poll(read, { interval: intervalMs }).toEqual(wanted);
}
