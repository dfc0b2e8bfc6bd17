const A_PERSON = "a person: ";

/** For whom a parked bill waits, and why. */
export function personWaitedFor(reason: string | null): string {
  return `${A_PERSON}${reason ?? "it failed"}`;
}

/**
 * A phase as people read it: a failed bill that only a person moves on is `settling` for programs,
 * and nothing of it settles.
 */
export function phaseTold(of: {
  readonly kind: string;
  readonly phase: string;
  readonly waitingFor: string | null;
}): string {
  const isParked =
    of.kind === "retry-failed-payment" && of.waitingFor?.startsWith(A_PERSON) === true;
  return isParked ? "waits for a person" : of.phase;
}
