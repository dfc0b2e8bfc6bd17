import { setImmediate } from "node:timers/promises";
import type { Steps } from "../../src/domain/steps.ts";

/** A turn ends with the step that takes it beyond this time. */
const TURN_MS = 10;

/**
 * Does long work step by step, so that heartbeats, answers and other activities can run in between.
 */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  let sinceMs = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - sinceMs < TURN_MS) continue;
    await setImmediate();
    sinceMs = performance.now();
  }
}
