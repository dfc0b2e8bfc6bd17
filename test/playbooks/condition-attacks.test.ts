import { describe, expect, test } from "vitest";
import type { ConditionView } from "../../src/domain/planning/condition-view.ts";
import { checkCondition, evaluateCondition } from "../../src/playbooks/conditions.ts";
import { onlyMistake } from "./marked.ts";

/** The most characters that a condition reads of one text. */
const LENGTH = 2_000;

const TEXTS = [
  "rent office floor ".repeat(LENGTH),
  "a".repeat(LENGTH),
  "ab".repeat(LENGTH),
  "1".repeat(LENGTH),
  "İé😀".repeat(LENGTH),
].map((text) => text.slice(0, LENGTH));

function billOf(text: string): ConditionView {
  return {
    id: "pay_1",
    publicId: "B-1",
    description: text,
    customNumber: text,
    amountCents: 1,
    totalAmountCents: 1,
    amountPaidCents: 0,
    dueDate: null,
    issueDate: null,
    status: "approved",
    paymentStatus: "none",
    vendor: { id: "con_1", name: text, type: "payee", netTerms: null, bankLast4: "6789" },
    flags: [],
  };
}

const TEN = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";

function loops(levels: number): string {
  let condition = "payable.amountCents > 0";
  for (let level = 0; level < levels; level += 1) condition = `${TEN}.all(x${level}, ${condition})`;
  return condition;
}

const PATTERNS = ["x", "y", "z"]
  .map((letter) => `payable.description.matches('${letter.repeat(90)}')`)
  .join(" || ");

describe("conditions that take too long", () => {
  test("fourteen nested loops are refused at the innermost five, which are too many by themselves", () => {
    const marked = loops(14).replace(loops(5), `«${loops(5)}»`);
    const { message, expected } = onlyMistake(`kind: pay-run\nwhere: "${marked}"\n`);
    expect(message).toMatch(/may take too long: [0-9,]+ steps/);
    expect(expected).toContain("at most 100,000 steps");
  });

  test.each([
    ["in a rule", `approve: [{ where: "«${loops(5)}»", by: [a] }, { by: [b] }]`],
    ["over the words of a text", "where: «payable.description.split(' ').all(w, int(w) > 0)»"],
    [
      "as a text that is joined to itself",
      "where: «payable.description.split('').join(payable.description)» == ''",
    ],
    [
      "as a span that is read from a text",
      "where: «duration(payable.description)» == duration('1h')",
    ],
    ["as a group of counts in counts", "where: payable.id.matches(«'((a{9}){9}){9}'»)"],
    ["as long patterns together", `where: «${PATTERNS}»`],
  ])("a condition that may take too long is refused %s", (_, marked) => {
    expect(onlyMistake(`kind: pay-run\n${marked}\n`).message).toMatch(/too long/);
  });

  test("however deeply loops are nested, checking them takes less than a second", () => {
    const begun = process.threadCpuUsage();
    for (let levels = 5; levels < 30; levels += 1) {
      expect(checkCondition(loops(levels), "approve")).not.toEqual([]);
    }
    expect(process.threadCpuUsage(begun).user).toBeLessThan(1_000_000);
  });
});

describe("patterns over texts that vendors write", () => {
  test.each([
    String.raw`\w*\w*!`,
    "rent.*office.*floor.*paid",
    "(a+)+$",
    "(a|a)*b$",
    "([a-z]+)*!",
    "(a|ab|b)*(b|ba)*c",
    "(?:a?){50}a{50}b",
    "[ab]*a[ab]{60}z",
    "(?i)(é|😀|i)*!",
    String.raw`(\pL*a){20}\b!`,
  ])(
    "the pattern %s never keeps a worker busy for a second, whatever text a vendor writes",
    (pattern) => {
      for (const field of ["description", "vendor.name"]) {
        const source = `payable.${field}.matches(r"${pattern}")`;
        expect(checkCondition(source, "approve")).toEqual([]);
        for (const text of TEXTS) {
          const begun = process.threadCpuUsage();
          evaluateCondition(source, billOf(text));
          expect(process.threadCpuUsage(begun).user).toBeLessThan(1_000_000);
        }
      }
    },
  );
});

describe("a text longer than a condition reads", () => {
  const bill = billOf(`${"a".repeat(LENGTH)} urgent`);

  test("a condition is never evaluated on the first part of a text that is too long", () => {
    expect(() => evaluateCondition('payable.description.contains("urgent")', bill)).toThrow(
      /B-1: its description has more than 2,000 characters/,
    );
  });

  test("a text that is too long matters only to conditions that read it", () => {
    expect(evaluateCondition("payable.amountCents > 0", bill)).toBe(true);
  });
});

test("a stored condition that would be refused today fails for each bill at once", () => {
  for (const source of [loops(14), 'payable.description.matches("(?=rent)")']) {
    expect(() => evaluateCondition(source, billOf("rent"))).toThrow(
      /can't be answered for bill B-1/,
    );
  }
});
