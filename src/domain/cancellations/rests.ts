import { growingMs } from "../back-off.ts";

const LOOKS = { share: 0.25, firstMs: 1_000, mostMs: 15_000 } as const;

/**
 * How long to rest before the next look at a request that has no answer yet: the longer, the longer
 * ago it was sent.
 */
export function lookRestMs(sentAgoMs: number): number {
  return growingMs(sentAgoMs, LOOKS);
}
