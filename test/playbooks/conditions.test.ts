import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";
import {
  checkCondition,
  ConditionError,
  evaluateCondition,
} from "../../src/playbooks/conditions.ts";
import type { ConditionView } from "../../src/domain/planning/condition-view.ts";
import { onlyMistake } from "./marked.ts";

const bill: ConditionView = {
  id: "pay_1",
  publicId: "B-1001",
  description: "Office rent, March",
  customNumber: null,
  amountCents: 250_000,
  totalAmountCents: 300_000,
  amountPaidCents: 50_000,
  dueDate: "2026-03-01",
  issueDate: null,
  status: "approved",
  paymentStatus: "none",
  vendor: {
    id: "con_1",
    name: "Hill Properties",
    type: "payee",
    netTerms: null,
    bankLast4: "6789",
  },
  flags: ["unusual-amount"],
};

describe("a condition", () => {
  test.each([
    ["Cafe\u0301 Roma", 'payable.vendor.name.startsWith("Caf\u00e9")'],
    ["Caf\u00e9 Roma", 'payable.vendor.name.startsWith("Cafe\u0301")'],
    ["Cafe\u0301 Roma", 'payable.vendor.name.matches("^Caf\u00e9 ")'],
    ["Caf\u00e9 Roma", 'payable.vendor.name == "Cafe\u0301 Roma"'],
    ["Caf\u00e9 Roma", 'payable.vendor.name == "Cafe\\u0301 Roma"'],
    ["Cafe\u0301 Roma", 'payable.vendor.name.startsWith("Cafe\\u0301")'],
    ["Caf\u00e9 Roma", 'payable.vendor.name in ["x", "Cafe\\u0301 Roma"]'],
  ])("a condition reads %j as it looks, however it was typed", (name, condition) => {
    const vendor = { ...bill.vendor, name };
    expect(evaluateCondition(condition, { ...bill, vendor })).toBe(true);
    const described = condition.replace("vendor.name", "description");
    expect(evaluateCondition(described, { ...bill, description: name })).toBe(true);
  });

  test.each([
    ['payable.description.contains("rent")', true],
    ['payable.description.lowerAscii().startsWith("office")', true],
    ['payable.description.matches("rent|lease [0-9]+$")', true],
    ["payable.amountCents > 250000", false],
    ["payable.totalAmountCents - payable.amountPaidCents == payable.amountCents", true],
    ['payable.dueDate < "2026-04-01" && payable.dueDate != ""', true],
    ['payable.issueDate == "" && payable.customNumber == ""', true],
    ['payable.vendor.type == "payee" && payable.vendor.bankLast4 == "6789"', true],
    ["has(payable.vendor.netTerms) && payable.vendor.netTerms > 30", false],
    ['"unusual-amount" in payable.flags', true],
    ['payable.flags.exists(flag, flag.startsWith("new-"))', false],
    ["size(payable.flags) > 0 ? payable.amountCents < 100 : true", false],
    ['payable.id in ["pay_1", "pay_2"]', true],
    ['payable.description.matches("(o|f)+ice")', true],
    ['payable.description.lowerAscii().split(" ").exists(word, word == "rent,")', true],
  ])("the condition %s is %s for the bill", (source, answer) => {
    expect(checkCondition(source, "approve")).toEqual([]);
    expect(evaluateCondition(source, bill)).toBe(answer);
    expect(evaluateCondition(source, bill)).toBe(answer);
  });

  test("a condition that fails on a bill's data names the bill, the reason and a way out", () => {
    const source = "payable.vendor.netTerms > 30";
    expect(() => evaluateCondition(source, bill)).toThrow(ConditionError);
    expect(() => evaluateCondition(source, bill)).toThrow(
      /can't be answered for bill B-1001: payable.vendor.netTerms is not set \(expected a guard: has/,
    );
    expect(() =>
      evaluateCondition("100 / payable.amountPaidCents > 1", { ...bill, amountPaidCents: 0 }),
    ).toThrow(/bill B-1001: the condition is wrong: division by zero/);
  });

  test("a condition is evaluated for each of thousands of bills separately", () => {
    const bills = Array.from({ length: 20_000 }, (_, i) => ({ ...bill, amountCents: i }));
    const source = "payable.amountCents >= 19000";
    expect(bills.filter((one) => evaluateCondition(source, one))).toHaveLength(1_000);
  });
});

describe("a condition that fails its check", () => {
  test.each([
    ['where: «paybale».id == "x"', "knows no `paybale`", "payable"],
    ["where: «amountCents» > 5", "knows no `amountCents`", "payable.amountCents"],
    ['where: «vendor».name == ""', "knows no `vendor`", "payable.vendor"],
    ["where: payable.«amount» > 5", "no field `amount`", "amountCents"],
    ['where: payable.vendor.«nmae» == "x"', "`payable.vendor` has no field `nmae`", "name"],
    ['where: «payable.description.contain("x")»', "no function `contain`", "contains"],
    ['where: «payable.amountCents > "5"»', "can't be combined: int > string", undefined],
    ["where: «payable.dueDate == null»", "can't be compared", undefined],
    [
      "where: «payable.description.contains(5)»",
      "`contains` can't be called on string with (int)",
      undefined,
    ],
    ["where: «payable.amountCents»", "gives int, not yes or no", undefined],
    ['where: «"   "»', "the condition is empty", undefined],
    ["where: «5»", "is not a condition", undefined],
    ["where: «dyn(payable)».foo == 1", "switch the type check off", undefined],
    ["where: payable.«flags».size() > 0", "not known while bills are being selected", undefined],
    ['where: payable.description.matches(«"("»)', "RE2: missing closing )", undefined],
    ['where: payable.description.matches(«"(?=rent)"»)', "looks around", undefined],
    ['where: payable.description.matches(«"(?<!no )rent"»)', "looks around", undefined],
    ["where: payable.description.matches(«r'(a)\\1'»)", "refers back", undefined],
    ['where: payable.description.matches(«"[a-z]{1000}"»)', "too long", undefined],
    [
      String.raw`where: payable.description.matches(«r'\Q$5\E'»)`,
      String.raw`quotes with \Q`,
      undefined,
    ],
    ["where: payable.description.matches(«payable.vendor.name»)", "must be written out", undefined],
    ['where: «cel.bind(x, "a", x == "a")»', "no function `bind`", undefined],
    [
      `approve: [{ where: '«"rejected_before"» in payable.flags', by: [a] }, { by: [b] }]`,
      "no bill ever has the flag `rejected_before`",
      "rejected-before",
    ],
    [
      `approve: [{ where: '!(size(payable.id) > 2 && «"odd"» in payable.flags)', by: [a] }, { by: [b] }]`,
      "no bill ever has the flag `odd`",
      undefined,
    ],
  ])("the condition in %s is refused at its place", (line, message, guess) => {
    const problem = onlyMistake(`kind: pay-run\n${line}\n`);
    expect(problem.message).toContain(message);
    expect(problem.didYouMean).toBe(guess);
  });

  test("a condition that breaks off is refused after its last character", () => {
    const problem = onlyMistake("kind: pay-run\nwhere: payable.amountCents >«»\nlate: ask");
    expect(problem.message).toContain("the condition is wrong");
  });
});

test("every mistake of a condition is reported", () => {
  for (const marked of [
    'payable.«amount» > 5 && («vendor».name == "x" || !payable.vendor.«nmae».contains("y"))',
    "payable.«amonut» > payable.«paid» + 1",
    '«payable.amountCents > "5"» ? «payable.dueDate == null» : payable.«flag» == ""',
  ]) {
    const found = checkCondition(marked.replaceAll(/[«»]/g, ""), "approve");
    const source = marked.replaceAll(/[«»]/g, "");
    expect(found.map(({ range }) => source.slice(range?.start, range?.end))).toEqual(
      [...marked.matchAll(/«(.*?)»/g)].map(([, part]) => part),
    );
  }
  const within = '(payable.amountCents + 1) > ("x") && payable.nme == "y"';
  expect(checkCondition(within, "approve").map(({ message }) => message)).toEqual([
    expect.stringContaining("can't be combined"),
    expect.stringContaining("no field `nme`"),
  ]);
});

describe("the place of a mistake inside a condition", () => {
  test.each([
    ["plain", 'where: payable.id == "a" && payable.«amonut» > 5'],
    [
      "plain over several lines",
      'where: payable.id == "a"\n    && payable.id != "b"\n\n    && payable.«amonut» > 5',
    ],
    ["single quotes", "where: 'payable.id == \"it''s\" && payable.«amonut» > 5'"],
    ["double quotes", 'where: "payable.id == \\"\\x41\\u00e9\\" && payable.«amonut» > 5"'],
    [
      "double quotes with escaped blanks",
      'where: "payable.id\\t==\\n \\"a\\" && \\\n  payable.«amonut» > 5"',
    ],
    [
      "double quotes over several lines",
      'where: "payable.id == \\"a\\"\n  && payable.«amonut» > 5"',
    ],
    ["a literal block", 'where: |\n  payable.id == "a"\n    && payable.«amonut» > 5\n'],
    [
      "a literal block with a header",
      'where: |2- # why\n    payable.id == "a" &&\n  payable.«amonut» > 5\n',
    ],
    ["a folded block", 'where: >-\n  payable.id == "a"\n  && payable.«amonut» > 5\n'],
    [
      "a folded block with gaps",
      'where: >\n\n  payable.id == "a"\n\n\n    && payable.«amonut» > 5\n  || false',
    ],
    ["astral characters", 'where: payable.id == "💸" && payable.«amonut» > 5'],
    [
      "escaped astral characters",
      'where: "payable.id == \\"\\U0001F4B8\\" && payable.«amonut» > 5"',
    ],
    ["Windows line ends", 'where: >-\r\n  payable.id == "a"\r\n  && payable.«amonut» > 5'],
    ["a rule in braces", 'approve: [{ where: "payable.«amonut» > 5", by: [a] }, { by: [b] }]'],
  ])("the place of a mistake is exact in %s", (_, marked) => {
    const text = `kind: pay-run\n${marked}`;
    expect(onlyMistake(text).message).toContain("amonut");
  });
});

test.each(["README.md", "playbooks/rent-first-of-month.yaml"])(
  "the rule for rent in %s matches the word “rent”, and not “rental”",
  (file) => {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
    const [rule = ""] = /payable\.description\.matches\(r".*?"\)/.exec(text) ?? [];
    const isRent = (description: string) => evaluateCondition(rule, { ...bill, description });
    expect(["Office rent, March", "Rent: unit 14"].map(isRent)).toEqual([true, true]);
    expect(["Forklift rental", "Current account", ""].map(isRent)).toEqual([false, false, false]);
  },
);
