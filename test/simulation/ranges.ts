/** Numbers as people write them, such as `1..4,9`. */
export function toRanges(numbers: Iterable<number>): string {
  const ranges: [number, number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}..${to}`)).join(",");
}

export function fromRanges(text: string): number[] {
  return text.split(",").flatMap((range) => {
    const [from = NaN, to = from] = range.split("..").map(Number);
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) {
      throw new Error(`${range} is no number and no range such as 1..100`);
    }
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  });
}
