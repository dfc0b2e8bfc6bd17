import { expect, test } from "vitest";
import { changesOf, changesText } from "../../../src/cli/show/revision-changes.ts";

const FIRST = "kind: pay-run\nselect: { due: all }\n";

/** What is said of each revision, newest first, of texts in the order they were stored. */
function said(...texts: readonly string[]): string[] {
  const revisions = texts.map((text, at) => ({ revision: at + 1, text })).toReversed();
  return changesOf(revisions).map((changes, at) => changesText(changes, at === texts.length - 1));
}

test("a revision is said to be the first, or what it changed against the one before it", () => {
  const second = `${FIRST}limits: { bill: $5k }\n`;
  const third = second.replace("all", "before-next-run").replace("limits:", "events:");
  expect(said(FIRST, second, third)).toEqual([
    "select, +events, -limits (+2 −2 lines)",
    "+limits (+1 −0 lines)",
    "first, 2 lines",
  ]);
});

test("one that brings an earlier text back names it, one that says the same in other words says so", () => {
  const commented = `# every bill\n${FIRST.replace("{ due: all }", "{due: all}")}`;
  expect(said(FIRST, commented, FIRST)).toEqual([
    "as revision 1",
    "only comments or spaces (+2 −1 lines)",
    "first, 2 lines",
  ]);
});

test("text that is no YAML any more is counted by its lines", () => {
  expect(said("kind: [", FIRST)[0]).toBe("+kind, +select (+2 −1 lines)");
});
