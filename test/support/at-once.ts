import type { Steps } from "../../src/domain/steps.ts";

/** Runs all steps without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
