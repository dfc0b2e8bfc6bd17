/** The most lanes of one run; four come close to the API's own speed. */
export const LANES_MAX = 4;

/** Lines for each lane: with more lanes, some would find nothing to lease. */
const LINES_PER_LANE = 20;

/** Returns how many lanes to run for this many lines. */
export function lanesFor(lines: number): number {
  return Math.min(LANES_MAX, Math.ceil(lines / LINES_PER_LANE));
}
