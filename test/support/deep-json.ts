/** Stands for a value so deep that a program which walks through it runs out of stack. */
export const DEEP = "a list, 100,000 deep";

const LISTS = 100_000;

/** Returns the JSON of a value, with real depth where it says `DEEP`. */
export function textWithDepth(value: unknown): string {
  const deep = "[".repeat(LISTS) + "]".repeat(LISTS);
  return JSON.stringify(value).replaceAll(JSON.stringify(DEEP), deep);
}
