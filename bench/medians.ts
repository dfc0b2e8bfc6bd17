/** Number of times that each side does what is measured. */
export const TIMES = 15;

/**
 * Returns the median time that each of two sides takes, in milliseconds. They take turns, so that a
 * slow moment of the machine affects both.
 */
export async function medians<Side>(
  sides: readonly [Side, Side],
  measured: (side: Side) => Promise<unknown>,
): Promise<readonly [number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < TIMES; round += 1) {
    for (const side of [0, 1] as const) {
      const beganAt = performance.now();
      await measured(sides[side]);
      times[side].push(performance.now() - beganAt);
    }
  }
  return [median(times[0]), median(times[1])];
}

/** Returns the median; NaN if there are no values. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
