import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../contracts/durations.ts";

/** The result of one try to deliver, in words that contain no address and no secret. */
export type TryResult =
  | { readonly kind: "sent" }
  /** Trying again would not help. */
  | { readonly kind: "refused"; readonly problem: string }
  | {
      readonly kind: "failed";
      readonly problem: string;
      /** True if the whole channel seems down, not just this notice unwelcome. */
      readonly channelDown: boolean;
      readonly retryAfterMs?: number;
    };

/** Pauses after the first, second … try: quick at first, since people wait; a day in all. */
const PAUSES_MS: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  8 * HOUR_MS,
];

/** The longest pause that a receiver may ask for. */
const RETRY_AFTER_MAX_MS = HOUR_MS;

/** How often an address that can't be read is looked up. */
const ROUTE_TRIES_MAX = PAUSES_MS.length;

/**
 * Returns when to try again.
 *
 * @param tries made before the one that failed
 * @returns null if it is given up
 */
export function nextTryMs(tries: number, nowMs: number, retryAfterMs = 0): number | null {
  const pauseMs = PAUSES_MS[tries];
  if (pauseMs === undefined) return null;
  return nowMs + Math.max(pauseMs, Math.min(retryAfterMs, RETRY_AFTER_MAX_MS));
}

export function nextRouteMs(tries: number, nowMs: number): number | null {
  return tries + 1 >= ROUTE_TRIES_MAX ? null : nextTryMs(tries, nowMs);
}

/**
 * Returns an error's code if it has one; its message may contain an address that is itself a
 * secret.
 */
export function codeOf(error: unknown): string {
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    return error.code;
  }
  return error instanceof Error ? error.name : "unknown";
}
