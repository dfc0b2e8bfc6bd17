import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REASON_CODES, type ReasonText } from "../../src/contracts/reason-codes.ts";

const DOCS = join(import.meta.dirname, "../../docs");

/** Where `docs/codes.md` lists the codes of each subject. */
const HEADINGS: Readonly<Record<keyof typeof REASON_CODES, string>> = {
  leftOut: "Bills that a plan leaves out",
  bill: "Bills of a run",
  wait: "What a business or a funding source waits for",
  sentDecision: "Decisions sent straight to Temporal",
  condition: "What is not as it should be",
};

const every = Object.entries(REASON_CODES).flatMap(([about, codes]) =>
  Object.entries<ReasonText>(codes).map(([code, text]) => ({ about, code, text })),
);

test("every reason code is written in lower-case words with underscores", () => {
  expect(every.length).toBeGreaterThan(80);
  const odd = every.filter(({ code }) => !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(code));
  expect(odd).toEqual([]);
});

test("docs/codes.md lists every reason code, what it says and what to do, and no other", () => {
  const page = readFileSync(join(DOCS, "codes.md"), "utf8");
  const [, part = ""] = page.split("\n## Reason codes\n");
  for (const [about, codes] of Object.entries(REASON_CODES)) {
    const heading = HEADINGS[about as keyof typeof REASON_CODES];
    const [, below = ""] = part.split(`\n### ${heading}\n`);
    const [listed = ""] = below.split(/\n##/);
    const rows = listed.split("\n").filter((line) => line.startsWith("| `"));
    const wanted = Object.entries<ReasonText>(codes).map(
      ([code, { means, remedy }]) => `| \`${code}\` | ${means} | ${remedy} |`,
    );
    expect(rows).toEqual(wanted);
  }
});

test("docs/health.md has a row for every condition", () => {
  const page = readFileSync(join(DOCS, "health.md"), "utf8");
  const missing = Object.keys(REASON_CODES.condition).filter(
    (code) => !page.includes(`\n| \`${code}\` |`),
  );
  expect(missing).toEqual([]);
});
