/** The largest size of a value in a condition: characters of a text, entries of a list or map. */
export interface Size {
  readonly length: number;
  /** The size of its largest entry; 1 in a text. */
  readonly entry: number;
  /** The size of everything in it. */
  readonly whole: number;
}

/** Characters that a condition reads of one text of a bill. */
export const MOST_CHARACTERS = 2_000;

/** A number, a date, or yes or no. */
export const SCALAR: Size = textOf(1);
const TEXT = textOf(MOST_CHARACTERS);
const VENDOR: Size = { length: 5, entry: TEXT.whole, whole: 5 * TEXT.whole };
/**
 * An upper bound: there are fewer kinds of flags, with shorter names, each noted once in a plan.
 */
const FLAGS = listOf(30, 40);
export const PAYABLE: Size = { length: 13, entry: VENDOR.whole, whole: 20 * TEXT.whole };

export function textOf(length: number): Size {
  return { length, entry: 1, whole: length };
}

function listOf(length: number, entry: number): Size {
  return { length, entry: entry + 1, whole: length * (entry + 1) };
}

/** Returns the size of a list or map literal. */
export function sizeOfList(entries: readonly Size[]): Size {
  const wholes = entries.map(({ whole }) => whole + 1);
  return {
    length: entries.length,
    entry: Math.max(1, ...wholes),
    whole: wholes.reduce((sum, whole) => sum + whole, 1),
  };
}

/** Returns the size of a loop's results for all entries. */
export function mapped(range: Size, { whole }: Size): Size {
  return listOf(range.length, whole);
}

/** Returns the size of one entry, of which only the maximum is known. */
export function entryOf({ entry }: Size): Size {
  return { length: entry, entry, whole: entry };
}

export function fieldOf(of: Size, name: string): Size {
  if (of === VENDOR) return TEXT;
  if (of !== PAYABLE) return entryOf(of);
  if (name === "flags") return FLAGS;
  if (name.endsWith("Cents")) return SCALAR;
  return name === "vendor" ? VENDOR : TEXT;
}

/** True for a field that every bill has, and that is never longer than a condition reads. */
export function isAlwaysThere(field: Size): boolean {
  return field === FLAGS || field === VENDOR || field === SCALAR;
}

/** Returns the size of either value. */
export function larger(one: Size, other: Size): Size {
  return {
    length: Math.max(one.length, other.length),
    entry: Math.max(one.entry, other.entry),
    whole: Math.max(one.whole, other.whole),
  };
}

/** Returns the size of two values joined. */
export function sizeOfJoined(one: Size, other: Size): Size {
  return {
    length: one.length + other.length,
    entry: Math.max(one.entry, other.entry),
    whole: one.whole + other.whole,
  };
}

/** Returns the steps for reading all of a value once. */
export function scan({ entry, whole }: Size): number {
  return entry === 1 ? whole / 16 : whole;
}

/** Returns the steps for finding one text in another if every place nearly matches. */
export function searchCost(text: Size, part: Size): number {
  return (text.length * part.length) / 400 + scan(text);
}
