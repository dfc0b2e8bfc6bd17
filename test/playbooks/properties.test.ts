import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { formatProblems } from "../../src/playbooks/problem.ts";

const folder = new URL("../../playbooks/", import.meta.url);
const examples = readdirSync(folder)
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => readFileSync(new URL(name, folder), "utf8"));

const example = fc.constantFrom(...examples);
const fragment = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(
    "\t",
    "\n",
    ": ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "*a",
    "&a",
    "!!",
    "|",
    ">-",
    "#",
    "'",
    '"',
    "---\n",
    "? ",
    "%",
    "\\",
    "$5,000",
    "null",
    "~",
    ".nan",
    "0x1F",
    "__proto__",
  ),
);

/** Returns the promises that a refusal of the text breaks; empty if it keeps all of them. */
function brokenPromises(text: string): string[] {
  const result = loadPlaybook(text, { file: "a.yaml" });
  if (result.ok) return [];
  const { problems } = result;
  const lines = text.split("\n").length + 1;
  const order = problems.map(({ line, column }) => line * 1e6 + column);
  const kept: Record<string, boolean> = {
    "there is a problem": problems.length > 0,
    "it prints": /^a\.yaml:\d+:\d+ {2}\S/.test(formatProblems(problems)),
    "lines exist": problems.every(({ line }) => line > 0 && line <= lines),
    "columns make sense": problems.every(
      ({ column, endColumn }) => column > 0 && (endColumn ?? column + 1) > column,
    ),
    "messages are sentences": problems.every(
      ({ message }) => !/undefined|\[object|Error:/.test(message),
    ),
    "the order is the text's": order.every((at, index) => at >= (order[index - 1] ?? 0)),
  };
  return Object.keys(kept).filter((promise) => kept[promise] !== true);
}

describe("loading a playbook never throws and always reports places", () => {
  test("loading survives any text cut out of a playbook and put into it", () => {
    fc.assert(
      fc.property(example, fc.nat(), fc.nat(60), fragment, (text, at, length, put) => {
        const start = at % (text.length + 1);
        expect(brokenPromises(text.slice(0, start) + put + text.slice(start + length))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test("loading survives lines of a playbook in any order, missing or doubled", () => {
    fc.assert(
      fc.property(example, fc.array(fc.nat(), { maxLength: 30 }), (text, picks) => {
        const lines = text.split("\n");
        expect(
          brokenPromises(picks.map((pick) => lines[pick % lines.length] ?? "").join("\n")),
        ).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("loading survives any values at a playbook's keys", () => {
    const keys = fc.constantFrom(
      "kind",
      "business",
      "schedule",
      "select",
      "where",
      "pay",
      "limits",
      "review",
      "approve",
      "approvalValid",
      "late",
      "onFailure",
      "notify",
      "every",
      "at",
      "by",
      "quorum",
      "over",
    );
    const value = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: "small" },
        fc.jsonValue(),
        fc.constantFrom("payable.x", "review", "$5k", "within 3 days", "weekday"),
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(keys, tie("tree"), { maxKeys: 5 }),
      ),
    })).tree;
    fc.assert(
      fc.property(fc.dictionary(keys, value), (playbook) => {
        expect(brokenPromises(JSON.stringify(playbook))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test("loading survives any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        expect(brokenPromises(text)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
