import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

test("every test that docs/security.md names as evidence exists", () => {
  const text = readFileSync(join(ROOT, "docs/security.md"), "utf8");
  const named = [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
