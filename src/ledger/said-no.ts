import type { KeyedAttempt, Send } from "./facts.ts";

/** Statuses of refusals that pass: the token, the moment, the pace. */
const PASSING: readonly number[] = [401, 403, 408, 409, 423, 425, 429];

/**
 * The last send, where the service refused it for good with a code that the specification doesn't
 * name. What it came to stays open by rule 5; asking again would get the same answer.
 */
export function saidNo(attempts: readonly KeyedAttempt[]): Send | undefined {
  const last = attempts.flatMap(({ sends }) => sends).at(-1);
  if (last === undefined || last.result !== "unknown" || last.code === null) return undefined;
  const { status } = last;
  const isRefusal = status !== null && status >= 400 && status < 500 && !PASSING.includes(status);
  return isRefusal ? last : undefined;
}
