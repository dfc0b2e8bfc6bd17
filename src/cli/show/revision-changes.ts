import { counted } from "../../domain/counted.ts";
import { diffLines } from "diff";
import { parse } from "yaml";

/** The part of a playbook's revision from which its changes are found. */
interface Revision {
  readonly revision: number;
  readonly text: string;
}

/** What a revision changed compared with the one before it. */
export interface RevisionChanges {
  /** An earlier revision with exactly the same text, which this one restores; otherwise null. */
  readonly sameAs: number | null;
  readonly addedLines: number;
  readonly removedLines: number;
  /** Keys of the playbook whose values changed, with `+` or `-` before an added or removed key. */
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

/** Summarizes changes: `first, 40 lines`, `as revision 2`, `approve, +limits (+3 −1 lines)`. */
export function changesText(changes: RevisionChanges, isFirst: boolean): string {
  const { sameAs, addedLines, removedLines, keys } = changes;
  if (isFirst) return `first, ${counted(addedLines, "line")}`;
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

/** Returns a playbook's keys with their values as text to compare; empty if it can't be parsed. */
function valuesOf(text: string): Map<string, string> {
  try {
    const value: unknown = parse(text);
    if (typeof value !== "object" || value === null) return new Map();
    return new Map(Object.entries(value).map(([key, of]) => [key, JSON.stringify(of)]));
  } catch {
    return new Map();
  }
}
