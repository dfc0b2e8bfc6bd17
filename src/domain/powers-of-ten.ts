/**
 * True at the 1st, 10th, 100th … occurrence: when people are notified of something that may repeat
 * without end.
 */
export function isPowerOfTen(times: number): boolean {
  return /^10*$/.test(String(times));
}

/** Returns the last of this many occurrences that people were notified of; 0 for none. */
export function lastPowerOfTen(times: number): number {
  return times < 1 ? 0 : 10 ** Math.floor(Math.log10(times));
}
