import { expect, test } from "vitest";
import { changesOf, changesText } from "../../../src/cli/show/revision-changes.ts";

const FIRST = "kind: pay-run\nselect: { due: all }\n";

/** Returns the text about each revision, newest first, of texts in the order they were stored. */
function said(...texts: readonly string[]): string[] {
  const revisions = texts.map((text, at) => ({ revision: at + 1, text })).toReversed();
  return changesOf(revisions).map((changes, at) => changesText(changes, at === texts.length - 1));
}

test("a revision is shown as the first, or with its changes since the one before it", () => {
  const second = `${FIRST}limits: { bill: $5k }\n`;
  const third = second.replace("all", "before-next-run").replace("limits:", "events:");
  expect(said(FIRST, second, third)).toEqual([
    "select, +events, -limits (+2 −2 lines)",
    "+limits (+1 −0 lines)",
    "first, 2 lines",
  ]);
});

test("a revision that restores an earlier text names it, and one that changes no meaning says so", () => {
  const commented = `# every bill\n${FIRST.replace("{ due: all }", "{due: all}")}`;
  expect(said(FIRST, commented, FIRST)).toEqual([
    "as revision 1",
    "only comments or spaces (+2 −1 lines)",
    "first, 2 lines",
  ]);
});

test("a revision's changes are counted by lines even if a text is not valid YAML", () => {
  expect(said("kind: [", FIRST)[0]).toBe("+kind, +select (+2 −1 lines)");
});
