/** Long work in steps: whoever does it lets others have their turn between two of them. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Does all steps in one go. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
