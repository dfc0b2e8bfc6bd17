/**
 * True at the 1st, 10th, 100th … occurrence: when people are notified of something that may repeat
 * without end.
 */
export function isPowerOfTen(times: number): boolean {
  return /^10*$/.test(String(times));
}
