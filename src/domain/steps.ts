/** Long work in steps: whoever does it lets others have their turn between two of them. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Bills that are judged in one step; some milliseconds. */
const BILLS_A_STEP = 500;

/** True where a step ends after this many bills. */
export function endsStep(count: number): boolean {
  return count % BILLS_A_STEP === 0;
}

/** Does all steps in one go. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
