import { expect, test } from "vitest";

import { fitted, wrapped } from "../../../src/cli/terminal/text.ts";

const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");
const ESCAPE = String.fromCodePoint(27);

test("a long sentence becomes lines of whole words that fit, indented after the first", () => {
  const lines = wrapped(`  ${words}`);
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(98);
  expect(lines[0]).toMatch(/^ {2}word0 /);
  for (const line of lines.slice(1)) expect(line).toMatch(/^ {4}word/);
  expect(lines.join(" ").trim().split(/ +/)).toEqual(words.split(" "));
  expect(wrapped("short")).toEqual(["short"]);
});

test("a line that is too long is cut with an ellipsis, its colours not counted and ended", () => {
  const coloured = `${ESCAPE}[33mnew-vendor${ESCAPE}[39m: ${words}`;
  const cut = fitted(coloured);
  const shown = cut.replaceAll(new RegExp(`${ESCAPE}\\[\\d+m`, "g"), "");
  expect(shown).toHaveLength(98);
  expect(shown).toMatch(/^new-vendor: word0 .*…$/);
  expect(cut.endsWith(`${ESCAPE}[0m`)).toBe(true);
  expect(fitted("short")).toBe("short");
});
