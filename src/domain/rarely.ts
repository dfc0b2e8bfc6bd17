/** True at the 1st, 10th, 100th … time: how often something that may come without end is told of. */
export function isToldOf(times: number): boolean {
  return /^10*$/.test(String(times));
}
