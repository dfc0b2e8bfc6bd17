/** How many things of a kind are listed because their names are similar. */
export const NEAR_MOST = 10;

/**
 * Finds the candidate that a mistyped word most likely meant.
 *
 * @returns undefined if nothing is close: a wild guess is worse than none.
 */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = simplify(word);
  if (wanted === "" || wanted.length > 100) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  let prefixed: string | undefined;
  for (const candidate of candidates) {
    const offered = simplify(candidate);
    if (wanted.length >= 3 && offered.startsWith(wanted)) prefixed ??= candidate;
    if (Math.abs(offered.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, offered);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? prefixed;
}

function simplify(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, "");
}

/** Counts insertions, deletions, substitutions and swaps of neighbors, each as one. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, substitution);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
