import { Context, heartbeat } from "@temporalio/activity";

/** The interval of heartbeats, well within the time-out after which a worker counts as dead. */
const BEAT_EVERY_MS = 2_000;

export async function beating<T>(work: () => Promise<T>): Promise<T> {
  heartbeat();
  return beatingLate(work);
}

/**
 * Beats only after the first interval, for short steps: each beat that reaches the server has a
 * cost, and most of these steps end before the first.
 */
export async function beatingLate<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), BEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
