import type { KeyedAttempt, Reading, Send } from "./facts.ts";

/** The last request about a subject, under whichever key. */
export function lastSend(attempts: readonly KeyedAttempt[]): Send | undefined {
  return attempts.flatMap(({ sends }) => sends).at(-1);
}

/** How long before a reading a request left, on the service's clock where that is known. */
export function leftAgoMs(
  { openedAtMs, openedServiceMs }: Send,
  { begunAtMs, begunServiceMs }: Reading,
): number {
  return openedServiceMs === null || begunServiceMs === null
    ? begunAtMs - openedAtMs
    : begunServiceMs - openedServiceMs;
}

/** Statuses of refusals that pass: the token, the moment, the pace. */
const PASSING: readonly number[] = [401, 403, 408, 409, 423, 425, 429];

/**
 * The last send, where the service refused it to this owner for good with a code that the
 * specification doesn't name. What it came to stays open by rule 5; asking again would get the same
 * answer.
 */
export function saidNo(attempts: readonly KeyedAttempt[], owner: string): Send | undefined {
  const last = lastSend(attempts);
  if (last?.owner !== owner || last.result !== "unknown" || last.code === null) return undefined;
  const { status } = last;
  const isRefusal = status !== null && status >= 400 && status < 500 && !PASSING.includes(status);
  return isRefusal ? last : undefined;
}
