import { setImmediate } from "node:timers/promises";
import type { Steps } from "../src/domain/steps.ts";

/** Does long work step by step; heartbeats, answers and other activities come in between. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}
