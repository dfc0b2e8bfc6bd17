import { growingMs } from "../back-off.ts";

const LOOKS = { share: 0.25, firstMs: 1_000, mostMs: 15_000 } as const;

/**
 * Returns the real milliseconds to wait before the next lookup of a request without a response;
 * longer the older the request is.
 */
export function lookupWaitMs(sentAgoMs: number): number {
  return growingMs(sentAgoMs, LOOKS);
}
