import type { KeyedAttempt, Reading, Send } from "./facts.ts";

/** Returns the last send of a subject, under any key. */
export function lastSend(attempts: readonly KeyedAttempt[]): Send | undefined {
  return attempts.flatMap(({ sends }) => sends).at(-1);
}

/**
 * Returns how long before a reading a send left, in milliseconds; on the service's clock if it is
 * known.
 */
export function leftAgoMs(
  { openedAtMs, openedServiceMs }: Send,
  { begunAtMs, begunServiceMs }: Reading,
): number {
  return openedServiceMs === null || begunServiceMs === null
    ? begunAtMs - openedAtMs
    : begunServiceMs - openedServiceMs;
}

/** Statuses of temporary refusals: the token, a conflict, the rate. */
const PASSING: readonly number[] = [401, 403, 408, 409, 423, 425, 429];

/**
 * Returns the last send if it was this owner's and the service refused it for good with a code that
 * the specification doesn't name. By rule 5 its result stays open, but sending it again would get
 * the same response.
 */
export function saidNo(attempts: readonly KeyedAttempt[], owner: string): Send | undefined {
  const last = lastSend(attempts);
  if (last?.owner !== owner || last.result !== "unknown" || last.code === null) return undefined;
  const { status } = last;
  const isRefusal = status !== null && status >= 400 && status < 500 && !PASSING.includes(status);
  return isRefusal ? last : undefined;
}
