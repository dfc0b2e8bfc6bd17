/** Long work in steps: the caller lets other work run between two steps. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Runs all steps without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
