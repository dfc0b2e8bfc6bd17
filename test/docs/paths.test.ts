import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pathsIn } from "../support/docs.ts";

const ROOT = join(import.meta.dirname, "../..");

const PAGES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`),
  ...readdirSync(join(ROOT, "docs/decisions")).map((name) => `docs/decisions/${name}`),
].filter((name) => name.endsWith(".md"));

test.each(PAGES)("every path that %s names exists", (page) => {
  const text = readFileSync(join(ROOT, page), "utf8");
  expect(pathsIn(text).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("ARCHITECTURE.md names more than thirty paths, so that the check is not empty", () => {
  const text = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
  expect(pathsIn(text).length).toBeGreaterThan(30);
});

test("each drill on the operations page names its tests", () => {
  const text = readFileSync(join(ROOT, "docs/operations.md"), "utf8");
  const [, table = ""] = /^\| Drill \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(text) ?? [];
  const drills = table.trim().split("\n");
  expect(drills.length).toBeGreaterThan(8);
  const untested = drills.filter((row) => !/`test\/[\w./-]+\.test\.ts` \|$/.test(row));
  expect(untested).toEqual([]);
});
