/** True at the 1st, 10th, 100th … time: how often something that may come without end is told of. */
export function isToldOf(times: number): boolean {
  return /^10*$/.test(String(times));
}

/** The last of so many times that was told of; 0 where there was none. */
export function lastToldOf(times: number): number {
  return times < 1 ? 0 : 10 ** Math.floor(Math.log10(times));
}
