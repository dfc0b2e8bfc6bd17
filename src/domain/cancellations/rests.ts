const FIRST_MS = 1_000;
const LONGEST_MS = 15_000;
const SHARE = 0.25;

/**
 * How long to rest before the next look at a request that has no answer yet: the longer, the longer
 * ago it was sent.
 */
export function lookRestMs(sentAgoMs: number): number {
  return Math.round(Math.min(LONGEST_MS, Math.max(FIRST_MS, sentAgoMs * SHARE)));
}
