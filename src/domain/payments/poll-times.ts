const FIRST_MS = 5_000;
const LONGEST_MS = 30 * 60_000;

/** A fast bank clock is not polled more often than this, in real time. */
const REAL_MIN_MS = 1_500;

/**
 * When a payment is read again that no event has spoken of, on the business clock.
 *
 * Soon after its last change and then ever more rarely, up to every half hour: a lost event of a
 * payment that moves at once costs seconds, and waiting for a bank costs a read now and then. The
 * times fall on a grid, so that payments made together are read together.
 *
 * @param sinceMs instant of the last change
 * @param scale business seconds in a real second
 */
export function nextPollMs(nowMs: number, sinceMs: number, scale: number): number {
  const age = Math.max(0, nowMs - sinceMs);
  let step = FIRST_MS;
  while (step < age && step < LONGEST_MS) step *= 2;
  step = Math.min(step, LONGEST_MS);
  const floorMs = scale > 1 ? REAL_MIN_MS * scale : 0;
  if (floorMs >= step) return nowMs + floorMs;
  return (Math.floor(nowMs / step) + 1) * step;
}
