import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changesIn, type Change } from "./changes.ts";
import { isEnough, mutate, report } from "./command.ts";
import { failedIn } from "./copy.ts";
import { importsOf, testsOf } from "./importers.ts";
import { type Copy, type Ran, Trial, type Verdict } from "./trial.ts";

function aChange(file = "src/ledger/a.ts"): Change {
  const [change] = changesIn(file, "export const isLater = (a, b) => a > b;");
  if (change === undefined) throw new Error("there is one");
  return change;
}

/** A copy in which tests end as a function says, and the tests that ran, in order. */
function copyIn(ran: (tests: readonly string[], isChanged: boolean) => Ran, isWellTyped = true) {
  let isChanged = false;
  const asked: (readonly string[])[] = [];
  const copy: Copy = {
    make: (change) => {
      isChanged = change !== undefined;
    },
    runTests: (tests) => {
      asked.push(tests);
      return Promise.resolve(ran(tests, isChanged));
    },
    checkTypes: () => Promise.resolve(isWellTyped),
  };
  return { trial: new Trial(copy), asked };
}

const passed: Ran = { ended: "passed", failed: [] };
const failureOf = (...failed: string[]): Ran => ({ ended: "failed", failed });

test("a change is noticed by a test that passes without it and fails with it again", async () => {
  const { trial, asked } = copyIn((_, isChanged) => (isChanged ? failureOf("b") : passed));
  expect(await trial.try(aChange(), ["a", "b"])).toMatchObject({ came: "noticed", by: "b" });
  expect(asked).toEqual([["a", "b"], ["b"], ["b"]]);
});

test("the tests nearest to a changed file run first, and the others only if those pass", async () => {
  const tests = Array.from({ length: 9 }, (_, index) => `t${index}`);
  const { trial, asked } = copyIn(() => passed);
  expect(await trial.try(aChange(), tests)).toMatchObject({ came: "unnoticed" });
  expect(asked.flat()).toEqual(tests);
  expect(asked).toHaveLength(2);
});

test("a test that fails without the change notices nothing, and isn't asked again", async () => {
  const { trial, asked } = copyIn((tests) => (tests.includes("red") ? failureOf("red") : passed));
  expect(await trial.try(aChange(), ["red", "b"])).toMatchObject({ came: "unnoticed" });
  expect(await trial.try(aChange(), ["red"])).toMatchObject({ came: "unnoticed" });
  expect(asked).toEqual([["red", "b"], ["red"], ["b"]]);
  expect(trial.unsound).toEqual(["red"]);
});

test("a test that fails only once notices nothing", async () => {
  let failures = 0;
  const { trial } = copyIn((tests) => {
    if (tests.includes("shaky")) failures += 1;
    return failures === 1 ? failureOf("shaky") : passed;
  });
  expect(await trial.try(aChange(), ["shaky", "b"])).toMatchObject({ came: "unnoticed" });
  expect(trial.unsound).toEqual(["shaky"]);
});

test("a change that no test notices is noticed if its types are wrong", async () => {
  const { trial } = copyIn(() => passed, false);
  expect(await trial.try(aChange(), ["a"])).toMatchObject({ came: "noticed", by: "types" });
});

test("of the test files that didn't pass, only those with a failure notice a change", async ({
  onTestFinished,
}) => {
  const folder = mkdtempSync(join(tmpdir(), "payrun-report-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const result = (name: string, status: string, message = "") => ({
    ...{ name: join(folder, name), status: "failed", message },
    assertionResults: [{ status: "passed" }, { status }],
  });
  const report = join(folder, "report.json");
  expect(failedIn(report, folder)).toEqual([]);
  const testResults = [
    result("test/not-begun.test.ts", "skipped"),
    result("test/red.test.ts", "failed"),
    result("test/broken.test.ts", "skipped", "can't be imported"),
  ];
  writeFileSync(report, JSON.stringify({ testResults }));
  expect(failedIn(report, folder)).toEqual(["test/red.test.ts", "test/broken.test.ts"]);
});

test("the tests of a file are those that import it, through others too: its folder's first, then the nearest; types don't count", () => {
  const sources = {
    "src/one/a.ts": "",
    "src/b.ts": 'export { a } from "./one/a.ts";',
    "test/far.test.ts": 'const { b } = await import("../src/b.ts");',
    "test/near.test.ts": 'import { a, type A } from "../src/one/a.ts";',
    "test/one/own.test.ts": 'import { b } from "../../src/b.ts";',
    "test/type.test.ts":
      'import type { A } from "../src/one/a.ts"; import { type B } from "../src/b.ts";',
    "test/support.ts": 'import "../src/one/a.ts";',
  };
  const imports = new Map(
    Object.entries(sources).map(([file, source]) => [file, importsOf(file, source)]),
  );
  const tests = new Set(Object.keys(sources).filter((file) => file.endsWith(".test.ts")));
  expect(testsOf("src/one/a.ts", tests, imports)).toEqual([
    "test/one/own.test.ts",
    "test/near.test.ts",
    "test/far.test.ts",
  ]);
});

test("the report has a score for each folder, without what took too long, and names what nothing noticed", () => {
  const verdict = (came: Verdict["came"], file?: string): Verdict => ({
    change: aChange(file),
    came,
    by: "",
  });
  const verdicts = [
    ...Array.from({ length: 8 }, () => verdict("noticed")),
    verdict("unnoticed", "src/store/b.ts"),
    verdict("late"),
  ];
  expect(report(verdicts)).toBe(
    [
      "src/ledger  8 of 8 noticed (100 %)",
      "src/store   0 of 1 noticed (0 %)",
      "all         8 of 9 noticed (88 %)",
      "",
      "Nothing noticed:",
      "  src/store/b.ts:1 isLater: a > b → a >= b",
      "",
      "Not counted, because their tests took too long:",
      "  src/ledger/a.ts:1 isLater: a > b → a >= b",
    ].join("\n"),
  );
  expect(isEnough(verdicts)).toBe(false);
  expect(isEnough([...verdicts, verdict("noticed")])).toBe(true);
});

test.each([
  [["--count", "none"]],
  [["--only", "docs"]],
  [["--only", "src/nowhere"]],
  [["--change", "nothing → anything"]],
  [["--sed", "1"]],
])("a mistaken command line such as %j changes nothing and ends with 2", async (args) => {
  expect(await mutate(args)).toBe(2);
});
