import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FLAG_KINDS } from "../../src/contracts/pay-run.ts";
import type { Playbook } from "../../src/contracts/playbook.ts";
import { PLAYBOOK_KINDS } from "../../src/playbooks/kinds/index.ts";
import { type JsonSchema, kindJsonSchema } from "../../src/playbooks/schema-json.ts";

type Kind = Playbook["kind"];

const PAGES: Readonly<Record<Kind, string>> = {
  "pay-run": "playbooks.md",
  "retry-failed": "retry-failed.md",
  "kyb-onboarding": "kyb-onboarding.md",
  hold: "hold.md",
  "cancel-scheduled": "cancel-scheduled.md",
};

/**
 * Where a page has a mapping's keys, if no heading is the mapping's name in code; the mapping ""
 * has the keys at the top.
 */
const HEADINGS: Partial<Record<Kind, Readonly<Record<string, string>>>> = {
  "pay-run": { "": "Keys", approve: "Approval rules" },
  "retry-failed": { rules: "Rules" },
};

interface Key {
  /** The mapping or list right above the key; "" at the top. */
  readonly mapping: string;
  readonly key: string;
}

function keysOf(schema: JsonSchema, mapping = ""): Key[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, child]) => [
    { mapping, key },
    ...keysOf(child.items ?? child, key),
  ]);
}

/** A line of a page, and the code in it. */
interface Line {
  readonly heading: string;
  /** What is code in the first cell of a table's row; otherwise null. */
  readonly firstCell: string | null;
  readonly code: string;
}

function linesOf(page: string): Line[] {
  let heading = "";
  let fence: string | null = null;
  return page.split("\n").flatMap((line): Line[] => {
    if (line.startsWith("```")) {
      fence = fence === null ? line.slice(3) : null;
      return [];
    }
    if (fence !== null) {
      // Of an example only the keys count.
      const keys = fence === "yaml" ? (line.match(/[\w-]+(?=:(\s|$))/g) ?? []) : [];
      return [{ heading, firstCell: null, code: keys.join(" ") }];
    }
    if (/^#+ /.test(line)) heading = line.replace(/^#+ /, "");
    const cells = line.startsWith("|") ? line.split(/(?<!\\)\|/) : null;
    return [{ heading, firstCell: cells && codeIn(cells[1] ?? ""), code: codeIn(line) }];
  });
}

function codeIn(text: string): string {
  return (text.match(/`[^`]+`/g) ?? []).join(" ");
}

function names(code: string, word: string): boolean {
  return new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(code);
}

/**
 * True if the page has the key in a row of its mapping's table, in code of its mapping's section,
 * or in code of a line that names both.
 */
function describes(lines: readonly Line[], { mapping, key }: Key, kind: Kind): boolean {
  const heading = HEADINGS[kind]?.[mapping] ?? `\`${mapping}\``;
  const section = lines.filter((line) => line.heading === heading);
  const rows = section.filter(({ firstCell }) => firstCell !== null);
  if (rows.length > 0) return rows.some(({ firstCell }) => names(firstCell ?? "", key));
  if (section.length > 0) return section.some(({ code }) => names(code, key));
  if (mapping === "") return lines.some(({ code }) => names(code, key));
  return lines.some(({ firstCell, code }) => names(firstCell ?? code, mapping) && names(code, key));
}

function pageOf(kind: Kind): Line[] {
  return linesOf(readFileSync(join(import.meta.dirname, "../../docs", PAGES[kind]), "utf8"));
}

test.each(Object.keys(PLAYBOOK_KINDS) as Kind[])(
  "each key of a %s playbook is described on its page, where its mapping is",
  (kind) => {
    const page = pageOf(kind);
    const keys = keysOf(kindJsonSchema(kind));
    expect(keys.length).toBeGreaterThan(3);
    const missing = keys
      .filter((key) => !describes(page, key, kind))
      // Every kind has it, and it means the same in each.
      .filter(({ key }) => key !== "business" || kind === "pay-run")
      .map(({ mapping, key }) => `${mapping}.${key}`);
    expect(missing).toEqual([]);
  },
);

test("the page of pay runs names every flag that a condition may look for", () => {
  const page = pageOf("pay-run");
  const rows = page.filter(
    ({ firstCell }) => firstCell !== null && /`(review|flags)`/.test(firstCell),
  );
  expect(rows).toHaveLength(2);
  const named = rows.map(({ code }) => code).join(" ");
  expect(FLAG_KINDS.filter((kind) => !names(named, kind))).toEqual([]);
});

test("a key that a page mentions elsewhere, or not as code, isn't described", () => {
  const page = linesOf(
    "# Playbooks\n`late` here\n## Keys\n| `pay` | where `late` goes |\n| on | by day |\n### `pay`\n| `from` | `whenShort` |\n",
  );
  const described = (mapping: string, key: string): boolean =>
    describes(page, { mapping, key }, "pay-run");
  expect([described("", "pay"), described("pay", "from")]).toEqual([true, true]);
  expect([described("", "late"), described("", "on")]).toEqual([false, false]);
  expect([described("pay", "whenShort"), described("", "from")]).toEqual([false, false]);
});
