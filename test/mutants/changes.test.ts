import { readFileSync } from "node:fs";
import { parseSync } from "oxc-parser";
import { expect, test } from "vitest";
import { inCheckout } from "../../scripts/setup/set-up.mjs";
import { changed, changesIn } from "./changes.ts";
import { allChanges, checkoutFiles, harmlessChanges, sampleOf } from "./places.ts";

/** The changes of a function's body, each as before and after. */
function changesOf(body: string): string[] {
  return changesIn("a.ts", `async function f() { ${body} }`).map(
    ({ before, after }) => `${before} → ${after}`,
  );
}

test.each([
  ["a condition is negated", "return isOpen ? a : b;", ["isOpen → !(isOpen)"]],
  ["a negation is taken back", "return !isOpen;", ["!isOpen → (isOpen)"]],
  ["a bound moves by one", "return a <= b;", ["a <= b → a < b"]],
  ["an equality is turned round", "return a !== b;", ["a !== b → a === b"]],
  ["a sum becomes a difference", "return a + b;", ["a + b → a - b"]],
  ["texts are only joined", "return `${a}` + b + 'c';", []],
  ["a number moves by one", "return a % 7;", ["a % 7 → a % 8"]],
  ["a large number stays", "return a % 60_000;", []],
  ["a default is taken always", "return a ?? b;", ["a ?? b → (b)"]],
  ["a switch is turned", "return f({ isOpen: true });", ["true → false"]],
  ["some becomes every", "return a.some(f);", ["a.some(f) → a.every(f)"]],
  ["an effect is dropped", "await send(a);", ["await send(a); → "]],
  ["the only element of a list is dropped", "return [a];", ["[a] → []"]],
  ["each element of a list is dropped", "return [a, ...b];", ["a → ", "...b → "]],
  ["an early return is dropped", "if (!a) { return; }", ["if (!a) { return; } → ", "!a → (a)"]],
  [
    "one side of two conditions is dropped, or one is enough",
    "return a && b;",
    ["a && b → (b)", "a && b → (a)", "a && b → ((a) || (b))"],
  ],
  [
    "a condition of a query is dropped",
    'return db.where("id", "=", id).execute();',
    ['.where("id", "=", id) → '],
  ],
  [
    "a condition of an SQL text is dropped",
    "return sql`delete from t where a = ${a} and b = t.b\n and c is null`;",
    ["a = ${a} and → ", "and b = t.b → ", "and c is null → "],
  ],
  ["types stay", "return a as readonly [true, false];", []],
])("among the changes of a file, %s", (_, body, expected) => {
  expect(changesOf(body)).toEqual(expected);
});

test("two equal changes of a function have two names, which don't depend on lines", () => {
  const body = "return a < b || c(a < b);";
  const keys = (before: string) =>
    changesIn("a.ts", `${before}function f() { ${body} }`).map(({ key }) => key);
  expect(keys("")).toContain("a.ts f: a < b → a <= b");
  expect(keys("")).toContain("a.ts f: a < b → a <= b (2)");
  expect(keys("\n// “More” lines.\n")).toEqual(keys(""));
});

test("every change of the money core has a name of its own and can be parsed", () => {
  const changes = allChanges(checkoutFiles());
  expect(new Set(changes.map(({ key }) => key)).size).toBe(changes.length);
  for (const change of sampleOf(changes, 300, 1)) {
    const source = readFileSync(inCheckout(change.file), "utf8");
    const text = changed(source, change);
    expect(text, change.key).not.toBe(source);
    expect(parseSync(change.file, text).errors, change.key).toEqual([]);
  }
});

test("a seed chooses the same changes each time, and most of them from other code too", () => {
  const changes = changesIn("a.ts", `const a = [${"b < c, ".repeat(200)}];`);
  const keys = (of: typeof changes, seed: number) => sampleOf(of, 40, seed).map(({ key }) => key);
  expect(keys(changes, 1)).toEqual(keys(changes, 1));
  expect(keys(changes, 1)).not.toEqual(keys(changes, 2));
  const kept = new Set(keys(changes.slice(10), 1));
  expect(keys(changes, 1).filter((key) => kept.has(key)).length).toBeGreaterThan(30);
});

test("each change that is judged harmless is there", () => {
  const keys = new Set(allChanges(checkoutFiles()).map(({ key }) => key));
  expect([...harmlessChanges()].filter((key) => !keys.has(key))).toEqual([]);
});
