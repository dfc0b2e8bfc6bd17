/**
 * True at the 1st, 10th, 100th … occurrence: when people are notified of something that may repeat
 * without end.
 */
export function isPowerOfTen(times: number): boolean {
  return /^10*$/.test(String(times));
}

/** The last occurrence of so many that was notified; 0 if none was. */
export function lastPowerOfTen(times: number): number {
  return times < 1 ? 0 : 10 ** Math.floor(Math.log10(times));
}
