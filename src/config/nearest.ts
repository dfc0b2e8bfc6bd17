const LARGEST_DISTANCE = 3;

/** Returns the known name that a mistyped one probably meant, if there is one. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, distance: editDistance(candidate, name) }))
    .filter(({ distance }) => distance <= LARGEST_DISTANCE)
    .toSorted((one, other) => one.distance - other.distance);
  return best?.candidate;
}

function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substituted));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
