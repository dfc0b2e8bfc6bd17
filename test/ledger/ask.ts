import type { Step, SubjectFacts, Wish } from "../../src/ledger/facts.ts";
import { next } from "../../src/ledger/next.ts";
import { pay } from "../../src/ledger/operations.ts";
import { nowAt, readAt, TERMS } from "./facts.ts";

/** Returns the next step after a reading of the same instant, which shows nothing by default. */
export function ask(
  facts: SubjectFacts,
  wish: Wish | null,
  atMin: number,
  shown = [] as Shownish,
): Step {
  return next(pay, facts, wish, readAt(atMin, shown), nowAt(atMin));
}

export type Shownish = Parameters<typeof readAt>[1];

export const FIRST_KEY = { kind: "send", seq: 1, isNewKey: true, baseline: [], terms: TERMS };
export const SAME_KEY = { ...FIRST_KEY, isNewKey: false };
export const NEXT_KEY = { ...FIRST_KEY, seq: 2 };
export const LOOKUP_DUE = { kind: "wait", reason: "lookup-due" };
