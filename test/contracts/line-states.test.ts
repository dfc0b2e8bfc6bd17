import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Node, parseSync, visitorKeys } from "oxc-parser";
import { expect, test } from "vitest";
import { LINE, LINE_STATES, LINE_TABLE } from "../../src/contracts/line-states.ts";

/** Other services: their words are not Payrun's, even if they are the same. */
const OTHERS = /^src\/(?:sandbox|payments-api)\//;

/** Lists of words that line states share with payments of the service, and with cancellations. */
const OF_OTHERS = [
  'src/domain/payments/payment-states.ts: status === "scheduled" || "held"',
  'activities/cancel/follow-refunds.ts: verdict.state === "refunded" || "cancelled"',
];

test("line states are listed in one table, and nowhere else in the product", () => {
  const lists = ["src", "activities", "workflows"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((name) => join(folder, name))
      .filter((path) => path.endsWith(".ts") && !OTHERS.test(path))
      .flatMap((path) => listsIn(readFileSync(path, "utf8")).map((list) => `${path}: ${list}`)),
  );
  expect(lists.filter((list) => !OF_OTHERS.includes(list))).toEqual([]);
});

test("a list of line states is noticed as an array, as a condition, and in SQL", () => {
  expect(
    [
      'const ours = ["planned", "parked"];',
      "const more = [...ours, 'held'];",
      'if (line.state !== "held" && line.state !== "settled") go();',
      "sql`where state in ('paying', 'unknown')`",
    ].map(listsIn),
  ).toEqual([
    ["[planned, parked]"],
    ["[held]"],
    ['line.state === "held" || "settled"'],
    ["('paying', 'unknown')"],
  ]);
});

test("what is neither a list nor of line states is none of the check's business", () => {
  const source = `
    const phases = ["planning", "paying"];
    const one = ["planned"];
    if (state === "skipped" && before !== "skipped") go();
    sql\`where phase in ('ended', 'parked')\``;
  expect(listsIn(source)).toEqual([]);
});

test("every state has a word, and each property belongs to the states whose rows have it", () => {
  for (const state of LINE_STATES) {
    const { word, is } = LINE_TABLE[state];
    expect(word).not.toBe("");
    expect(is.every((property) => LINE[property].includes(state))).toBe(true);
    expect(new Set(is).size).toBe(is.length);
  }
});

test("a state is over, under way, or still to begin", () => {
  const kinds = [LINE.ended, LINE.underWay, LINE.waiting];
  expect(kinds.flat().toSorted()).toEqual(LINE_STATES.toSorted());
});

/** Returns the lists of line states in a source text, in a form of their own. */
function listsIn(source: string): string[] {
  const found: string[] = [];
  visit(parseSync("source.ts", source).program, (node) => {
    if (node.type === "ArrayExpression") {
      const texts = node.elements.flatMap((each) => textOf(each) ?? []);
      const spreads = node.elements.filter((each) => each?.type === "SpreadElement").length;
      const isList = texts.every(isState) && texts.length > 0 && texts.length + spreads > 1;
      if (isList) found.push(`[${texts.join(", ")}]`);
    }
    if (node.type === "LogicalExpression") {
      const [one, other] = [comparedIn(node.left, source), comparedIn(node.right, source)];
      const isList = one !== undefined && other !== undefined && one.what === other.what;
      if (isList) found.push(`${one.what} === "${one.state}" || "${other.state}"`);
    }
    const text = node.type === "TemplateElement" ? node.value.raw : textOf(node);
    for (const [list] of text?.matchAll(/\(\s*'[^()]*\)/g) ?? []) {
      const words = [...list.matchAll(/'([^']*)'/g)].map(([, word]) => word ?? "");
      if (words.length > 1 && words.every(isState)) found.push(list);
    }
  });
  return found;
}

function isState(word: string): boolean {
  return LINE_STATES.some((state) => state === word);
}

function textOf(node: Node | null): string | undefined {
  return node?.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}

/** Returns what a condition compares with a line's state; undefined if it compares something else. */
function comparedIn(node: Node, source: string): { what: string; state: string } | undefined {
  if (node.type === "LogicalExpression") return comparedIn(node.right, source);
  const state = node.type === "BinaryExpression" ? textOf(node.right) : undefined;
  if (node.type !== "BinaryExpression" || state === undefined || !isState(state)) return undefined;
  return { what: source.slice(node.left.start, node.left.end), state };
}

function visit(node: Node, see: (node: Node) => void): void {
  see(node);
  for (const key of visitorKeys[node.type] ?? []) {
    const child: unknown = node[key as keyof Node];
    for (const each of Array.isArray(child) ? child : [child]) {
      if (each !== null && each !== undefined) visit(each as Node, see);
    }
  }
}
