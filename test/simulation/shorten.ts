import { runSeed, type SeedResult } from "./run-seed.ts";

/** The most runs that are spent on a shorter trace. */
const TRIES_MOST = 60;
const SPENT_MOST_MS = 30_000;

/** How much later than before the rule may be broken. */
const LATER_MS = 1_800_000;

interface Shortened {
  readonly result: SeedResult;
  /** Numbers of the faults that the violation doesn't need. */
  readonly without: ReadonlySet<number>;
}

/**
 * Leaves out as many faults as possible while the same rule is still broken: half of them first,
 * then quarters (delta debugging).
 */
export async function shorten(found: SeedResult): Promise<Shortened> {
  let best: Shortened = { result: found, without: new Set() };
  let tries = 0;
  const startedMs = performance.now();
  const untilMs = found.endedMs + LATER_MS;
  const isSpent = (): boolean =>
    tries >= TRIES_MOST || performance.now() - startedMs > SPENT_MOST_MS;
  let kept = Array.from({ length: found.faults }, (_, index) => index + 1);
  for (let parts = 2; kept.length > 0 && !isSpent();) {
    const size = Math.ceil(kept.length / parts);
    let isShorter = false;
    for (let from = 0; from < kept.length && !isSpent(); from += size) {
      const dropped = kept.slice(from, from + size);
      const without = new Set([...best.without, ...dropped]);
      tries += 1;
      const result = await runSeed(found.seed, { without, untilMs });
      if (result.rule !== found.rule) continue;
      best = { result, without };
      kept = kept.filter((number) => !without.has(number) && number <= result.faults);
      isShorter = true;
      break;
    }
    if (isShorter) parts = Math.max(2, parts - 1);
    else if (size <= 1) break;
    else parts = Math.min(kept.length, parts * 2);
  }
  return best;
}
