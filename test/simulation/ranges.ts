/** Writes numbers as people do, such as `1..4,9`. */
export function toRanges(numbers: Iterable<number>): string {
  const ranges: [number, number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}..${to}`)).join(",");
}

/** A longer range is a typing mistake. */
const NUMBERS_MOST = 10_000_000;

/** @throws {RangeError} */
export function fromRanges(text: string): number[] {
  return text.split(",").flatMap((range) => {
    const [, first, last = first] = /^(\d{1,15})(?:\.\.(\d{1,15}))?$/.exec(range.trim()) ?? [];
    if (first === undefined) {
      throw new RangeError(`“${range}” is no number and no range such as 1..100`);
    }
    const [from, count] = [Number(first), Number(last) - Number(first) + 1];
    if (count < 1) throw new RangeError(`“${range}” has its end before its beginning`);
    if (count > NUMBERS_MOST) {
      throw new RangeError(`“${range}” has more than ${NUMBERS_MOST} numbers`);
    }
    return Array.from({ length: count }, (_, index) => from + index);
  });
}
