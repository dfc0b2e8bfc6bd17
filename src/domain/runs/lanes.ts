/** Lanes that pay for one business at once; four wide ones come close to the API's own speed. */
export const LANES_MAX = 4;

/** Lines below which another lane would have nothing to lease. */
const LINES_PER_LANE = 20;

/** How many lanes a number of lines is worth. */
export function lanesFor(lines: number): number {
  return Math.min(LANES_MAX, Math.ceil(lines / LINES_PER_LANE));
}
