import { diffLines } from "diff";
import { parse } from "yaml";

/** A revision of a playbook, as far as what it changed is told from it. */
interface Revision {
  readonly revision: number;
  readonly text: string;
}

/** What a revision changed against the one before it. */
export interface RevisionChanges {
  /** An earlier revision with the very same text, which this one has brought back; else null. */
  readonly sameAs: number | null;
  readonly addedLines: number;
  readonly removedLines: number;
  /** Keys of the playbook whose values are others, `+` or `-` before one that came or went. */
  readonly keys: readonly string[];
}

/** @param revisions newest first @returns one for each */
export function changesOf(revisions: readonly Revision[]): RevisionChanges[] {
  return revisions.map(({ text }, at) => {
    const earlier = revisions.slice(at + 1);
    const before = earlier[0]?.text ?? "";
    const parts = diffLines(before, text);
    const lines = (kind: "added" | "removed"): number =>
      parts.reduce((sum, part) => sum + (part[kind] ? part.count : 0), 0);
    return {
      sameAs: earlier.find((other) => other.text === text)?.revision ?? null,
      addedLines: lines("added"),
      removedLines: lines("removed"),
      keys: earlier.length === 0 ? [] : changedKeys(valuesOf(before), valuesOf(text)),
    };
  });
}

/** In a few words: `first`, `as revision 2`, `approve, +limits (+3 −1 lines)`. */
export function changesText(changes: RevisionChanges, isFirst: boolean): string {
  const { sameAs, addedLines, removedLines, keys } = changes;
  if (isFirst) return `first, ${addedLines} lines`;
  if (sameAs !== null) return `as revision ${sameAs}`;
  const what = keys.length === 0 ? "only comments or spaces" : keys.join(", ");
  return `${what} (+${addedLines} −${removedLines} lines)`;
}

function changedKeys(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  return [...new Set([...after.keys(), ...before.keys()])].flatMap((key) => {
    if (!before.has(key)) return `+${key}`;
    if (!after.has(key)) return `-${key}`;
    return before.get(key) === after.get(key) ? [] : key;
  });
}

/** A playbook's keys with their values, as text to compare; none of what can't be read. */
function valuesOf(text: string): Map<string, string> {
  try {
    const value: unknown = parse(text);
    if (typeof value !== "object" || value === null) return new Map();
    return new Map(Object.entries(value).map(([key, of]) => [key, JSON.stringify(of)]));
  } catch {
    return new Map();
  }
}
