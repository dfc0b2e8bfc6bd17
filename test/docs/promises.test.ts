import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { pageText, pathsIn } from "../support/docs.ts";

const ROOT = join(import.meta.dirname, "../..");

interface Promised {
  readonly promise: string;
  /** Files, and folders with a slash at their end, that show it. */
  readonly shownBy: readonly string[];
}

function promisesOf(page: string): Promised[] {
  return [...pageText(page).matchAll(/^\| (.+) \| (.+) \|$/gm)]
    .map(([, promise = "", shownBy = ""]) => ({ promise, shownBy: pathsIn(shownBy) }))
    .filter(({ promise }) => promise !== "Promise");
}

const LISTED = promisesOf("docs/promises.md");
const ALL = [...LISTED, ...promisesOf("docs/security.md")];

test("every promise on the promises page names tests, all of which exist", () => {
  expect(LISTED.length).toBeGreaterThan(200);
  const isTest = (path: string): boolean =>
    /^test\/.+(\.test\.ts|\/)$/.test(path) && existsSync(join(ROOT, path));
  const unshown = LISTED.filter(({ shownBy }) => shownBy.length === 0 || !shownBy.every(isTest));
  expect(unshown).toEqual([]);
});

test("every test file stands beside a promise, itself or with its folder", () => {
  const named = new Set(ALL.flatMap(({ shownBy }) => shownBy));
  const files = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => join("test", path));
  expect(files.length).toBeGreaterThan(200);
  expect(files.filter((path) => !named.has(path) && !named.has(`${dirname(path)}/`))).toEqual([]);
});

test("no promise stands twice", () => {
  const said = ALL.map(({ promise }) => promise.toLowerCase());
  expect(said.filter((promise, at) => said.indexOf(promise) !== at)).toEqual([]);
});
