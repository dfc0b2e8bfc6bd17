import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { fixtureOf } from "../../../src/cli/home/fixture.ts";
import { temporaryFolder } from "../cli.ts";

test("a sandbox keeps a note of its first fixture over restarts, and refuses another one", () => {
  const home = temporaryFolder();
  const noted = () => readFileSync(join(home, "sandbox.fixture"), "utf8");
  const first = fixtureOf(home, "blank");
  expect(first.starts).toBe("blank");
  mkdirSync(join(home, "sandbox"));
  first.note();
  for (const wanted of ["blank", undefined, "blank"]) {
    const again = fixtureOf(home, wanted);
    again.note();
    expect(noted()).toBe("blank\n");
  }
  expect(() => fixtureOf(home, "sample")).toThrow(/has begun with “blank”/);
});
