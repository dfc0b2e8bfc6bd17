const A_PERSON = "a person: ";

/** Says that a parked bill waits for a person, and why. */
export function personWaitedFor(reason: string | null): string {
  return `${A_PERSON}${reason ?? "it failed"}`;
}

/**
 * Returns a phase as people read it: a failed bill that only a person can move on is `settling` for
 * programs, although nothing of it settles.
 */
export function shownPhase(of: {
  readonly kind: string;
  readonly phase: string;
  readonly waitingFor: string | null;
}): string {
  const isParked =
    of.kind === "retry-failed-payment" && of.waitingFor?.startsWith(A_PERSON) === true;
  return isParked ? "waits for a person" : of.phase;
}
