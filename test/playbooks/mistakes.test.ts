import { describe, expect, test } from "vitest";
import { FLAG_KINDS } from "../../src/contracts/pay-run.ts";
import { REVIEW_REASONS } from "../../src/contracts/playbook.ts";
import { PLAYBOOK_KINDS } from "../../src/playbooks/kinds/index.ts";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { formatProblems } from "../../src/playbooks/problem.ts";
import { onlyMistake, problemsOf } from "./marked.ts";

const RULES = "kind: pay-run\napprove:\n";

describe("one mistake, at its place", () => {
  test.each([
    ["kind: pay-run\n«late\u200b»: ask", "U+200B, a zero-width space"],
    ["kind: pay-run\nlate: «a\u00a0sk»", "U+00A0, a no-break space"],
    ["kind: pay-run\nlate: «a\u00adsk»", "U+00AD, a soft hyphen"],
  ])("a mistake in %j names the character that can't be seen", (marked, name) => {
    expect(onlyMistake(marked).message).toContain(`a character that can't be seen (${name})`);
  });

  test.each([
    ["an unknown key", "kind: pay-run\n«limit»: { bill: $5k }\n", "limits"],
    ["an unknown key in a mapping", "kind: pay-run\npay: { «form»: default }", "from"],
    ["an unknown key that belongs elsewhere", "kind: pay-run\n«quorum»: 2", "approve[].quorum"],
    [
      "another spelling of a key",
      "kind: pay-run\nlimits:\n  «vendor_per_week»: $5k",
      "vendorPerWeek",
    ],
    ["a wrong kind", "kind: «payrun»", "pay-run"],
    ["a wrong word", "kind: pay-run\nlate: «aks»", "ask"],
    ["a word of a list", "kind: pay-run\nreview:\n  - new-vendor\n  - «new-vendors»", "new-vendor"],
    ["a day", "kind: pay-run\nschedule: { every: «Thu» }", "thursday"],
    ["hurry beside approve", "kind: pay-run\n«hurry»: { under: 1 minute }", "approve.hurry"],
    ["hurry as a rule", `${RULES}  - { «hurry»: 1, by: [owner] }`, "approve.hurry"],
    ["hurry without a unit", "kind: pay-run\napprove: { hurry: { under: «60» } }", "60 seconds"],
    ["a time", 'kind: pay-run\nschedule: { every: monday, at: «"9:00"» }', "09:00"],
    ["a zone", "kind: pay-run\nschedule:\n  every: monday\n  zone: «NewYork»", "America/New_York"],
    ["a duration", "kind: pay-run\nselect: { due: «within 2 weeks» }", "within 14 days"],
    ["a duration alone", "kind: pay-run\nselect: { due: «7 days» }", "within 7 days"],
    ["days without a unit", "kind: pay-run\napprovalValid: «30»", "30 days"],
    ["plain days of arrival", "kind: pay-run\npay: { arrivesAfter: «3 days» }", "3 business days"],
    ["money without a unit", "kind: pay-run\nlimits:\n  bill: «50000»", "$50,000"],
    [
      "money without its sign",
      `${RULES}  - { over: «25k», by: [owner] }\n  - { by: [owner] }`,
      "$25k",
    ],
    ["one role instead of a list", `${RULES}  - by: «owner»`, "[owner]"],
    ["a role in capitals", `${RULES}  - by: [owner, «Chief Controller»]`, "chief-controller"],
    ["a quorum in quotes", `${RULES}  - by: [owner]\n    quorum: «"2"»`, "2"],
    [
      "a playbook for failures with a blank in its name",
      "kind: pay-run\nonFailure: «Retry failed»",
      "retry-failed",
    ],
  ])("a mistake such as %s is reported with what was probably meant", (_, marked, guess) => {
    const problem = onlyMistake(marked);
    expect(problem.didYouMean).toBe(guess);
    expect(problem.expected).toEqual(expect.any(String));
  });

  test.each([
    ["a missing kind", "«select»: { due: all }", "`kind` is missing"],
    [
      "hurry without a time",
      "kind: pay-run\napprove: { hurry: «{ then: another }» }",
      "needs `under`",
    ],
    ["odd hours", 'kind: pay-run\napprove: { hurry: { outside: «"7-20"» } }', "are no hours"],
    [
      "a rule of the mapping",
      "kind: pay-run\napprove:\n  rules:\n    - { by: [owner], quorum: «0» }",
      "asks nobody",
    ],
    ["no approvals at all", "kind: pay-run\napprove: «soon»", "must be a list"],
    ["a missing day", "kind: pay-run\n«schedule»: { at: 10:00 }", "`every` is missing"],
    ["missing approvers", `${RULES}  - «{ over: $5 }»\n  - { by: [owner] }`, "`by` is missing"],
    ["a mapping that is a text", "kind: pay-run\npay: «soon»", "must be a mapping, not `soon`"],
    [
      "a mapping that is a list",
      "kind: pay-run\nlimits: «[ $5k ]»",
      "must be a mapping, not a list",
    ],
    ["a list that is a mapping", "kind: pay-run\nreview: «{ a: b }»", "must be a list"],
    ["nothing after a key", "kind: pay-run\n«limits»:\n  # bill: $5k\n", "`limits` is empty"],
    ["a text that is a list", "kind: pay-run\nbusiness: «[acme]»", "is not a business"],
    ["a weekend", "kind: pay-run\nschedule: { every: «sunday» }", "banks are closed on sunday"],
    ["a week without its day", "kind: pay-run\nschedule: { every: «week» }", "a day of the week"],
    [
      "a month without its day",
      "kind: pay-run\nschedule: { every: «month» }",
      "a day of the month",
    ],
    [
      "a fortnight without its start",
      "kind: pay-run\nschedule: { every: «two-weeks» }",
      "does not say which weeks",
    ],
    [
      "a fortnight from a weekend",
      "kind: pay-run\nschedule: { every: two-weeks, from: «2026-01-10» }",
      "on a weekend",
    ],
    [
      "a weekday of a month",
      "kind: pay-run\nschedule: { every: month, «on»: friday }",
      "a day of the month",
    ],
    [
      "a day that not every month has",
      "kind: pay-run\nschedule: { every: month, on: «31» }",
      "not every month has a day 31",
    ],
    [
      "a day that a week has twice",
      "kind: pay-run\nschedule: { every: thursday, «on»: friday }",
      "goes with `every: week`",
    ],
    [
      "a start of no fortnight",
      "kind: pay-run\nschedule: { every: thursday, «from»: 2026-01-08 }",
      "goes with `every: two-weeks`",
    ],
    [
      "holidays of a daily run",
      "kind: pay-run\nschedule: { every: weekday, «holidays»: skip }",
      "a run that is moved would meet another",
    ],
    ["a limit of nothing", "kind: pay-run\nlimits: { bill: «$0» }", "would let nothing through"],
    ["fractions of a cent", "kind: pay-run\nlimits: { bill: «$1.005» }", "fractions of a cent"],
    ["a number of days", "kind: pay-run\nselect: { due: «within 900 days» }", "no such number"],
    ["a list as playbook", "«- kind: pay-run»", "a playbook must be a mapping"],
    ["a text as playbook", "«hello»", "a playbook must be a mapping"],
    ["a reason twice", "kind: pay-run\nreview: [new-vendor, «new-vendor»]", "listed twice"],
    ["an amount cut by a comma", "kind: pay-run\nlimits: { bill: $75,«000» }", "cut off"],
  ])("a mistake such as %s is reported with what is wrong", (_, marked, message) => {
    expect(onlyMistake(marked).message).toContain(message);
  });
});

describe("approval rules", () => {
  test.each([
    ["no rules", "kind: pay-run\napprove: «[]»", "nobody could approve"],
    ["no roles", `${RULES}  - by: «[]»`, "nobody could approve"],
    ["a quorum of zero", `${RULES}  - { by: [owner], quorum: «0» }`, "asks nobody"],
    ["a negative quorum", `${RULES}  - { by: [owner], quorum: «-1» }`, "asks nobody"],
    ["half a quorum", `${RULES}  - { by: [owner], quorum: «1.5» }`, "not a number of people"],
    ["a crowd", `${RULES}  - { by: [owner], quorum: «50» }`, "nobody can reach"],
    ["the role of administrators", `${RULES}  - { by: [owner, «admin»] }`, "approves nothing"],
    ["the role of operators", `${RULES}  - { by: [owner, «operator»] }`, "approves nothing"],
    ["the role of launchers", `${RULES}  - { by: [owner, «launcher»] }`, "approves nothing"],
    ["the role of viewers", `${RULES}  - { by: [owner, «viewer»] }`, "approves nothing"],
    ["a role twice", `${RULES}  - { by: [owner, «owner»] }`, "listed twice"],
    [
      "a rule behind one for all",
      `${RULES}  - by: [owner]\n  - «{ over: $5k, by: [owner] }»`,
      "never reached",
    ],
    [
      "larger amounts last",
      `${RULES}  - { over: $5k, by: [a] }\n  - «{ over: $9k, by: [b] }»\n  - by: [c]`,
      "never reached: rule 1",
    ],
    [
      "the same condition twice",
      `${RULES}  - { where: payable.id == "", by: [a] }\n  - «{ where: payable.id == "", by: [b] }»\n  - by: [c]`,
      "never reached",
    ],
    [
      "no rule for the rest",
      `${RULES}  - { when: review, by: [a] }\n  - «{ over: $5k, by: [b] }»`,
      "could never be approved",
    ],
  ])("approval rules with %s are refused", (_, marked, message) => {
    expect(onlyMistake(marked).message).toContain(message);
  });

  test.each([
    ["", "new-vendor, changed-bank-account, likely-duplicate, unusual-amount, split-below-limit"],
    ["review: []\n", "split-below-limit"],
  ])("a rule for a flag that `review` doesn't name is refused: %j", (review, named) => {
    const rule = `- { where: '«"split-below-limit"» in payable.flags', by: [a] }`;
    const problem = onlyMistake(`kind: pay-run\n${review}approve:\n  ${rule}\n  - { by: [b] }`);
    expect(problem.message).toContain("`review` doesn't name it");
    expect(problem.expected).toBe(`\`review: [${named}]\``);
  });

  test("a rule may look for every flag that a bill can have without being named", () => {
    const rules = FLAG_KINDS.filter(
      (kind) => kind === "changed-record" || !REVIEW_REASONS.some((reason) => reason === kind),
    ).map((kind) => `  - { where: '"${kind}" in payable.flags', by: [a] }\n`);
    expect(rules.join("")).toContain("changed-since-plan");
    const all = `kind: pay-run\nreview: []\napprove:\n${rules.join("")}  - { by: [b] }`;
    expect(loadPlaybook(all, { file: "weekly.yaml" }).ok).toBe(true);
  });

  test("approval rules that go from narrow to wide are accepted", () => {
    const rules = `${RULES}  - { when: review, over: $9k, by: [a] }
  - { when: review, by: [b] }
  - { over: $9k, by: [c] }
  - { over: $5k, by: [c] }
  - { where: payable.id == "", by: [e] }
  - { by: [d] }
late: «never»`;
    expect(onlyMistake(rules).message).toContain("`late`");
  });
});

describe("errors in the YAML", () => {
  test.each([
    ["a tab", "kind: pay-run\npay:\n«\t»from: default", "a tab indents"],
    ["a second document", "kind: pay-run\n«---»\nkind: pay-run", "a second document starts"],
    [
      "a missing comma",
      "kind: pay-run\npay: { from: «default on: next-business-day» }",
      "doesn't fit",
    ],
    ["a colon in a text", "kind: pay-run\nbusiness: «a: b»", "a second `:`"],
    ["no space after a colon", "«kind:pay-run»\nlate: ask", "not a key"],
    ["a bracket that stays open", "kind: pay-run\nreview: [new-vendor\n«late»: ask", "not YAML"],
  ])("a YAML error such as %s is reported at its start", (_, marked, message) => {
    const before = marked.slice(0, marked.indexOf("«"));
    const [first, ...others] = problemsOf(marked.replace(/[«»]/g, ""));
    expect(first?.message).toContain(message);
    expect(first).toMatchObject({
      line: before.split("\n").length,
      column: before.length - before.lastIndexOf("\n"),
    });
    expect(others).toEqual([]);
  });

  test("a YAML error is one mistake, without the many that follow from it", () => {
    const problems = problemsOf(
      'kind: pay-run\nbusiness: "acme\nlate: ask\nreview: [new-vendor]\n',
    );
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toContain("this is not YAML");
  });

  test("a YAML error does not hide the mistakes above it", () => {
    const problems = problemsOf(
      "kind: payrun\nlate: never\nreview: [new-vendor\npay: {}\nfoo: 1\n",
    );
    expect(problems.map(({ line }) => line)).toEqual([1, 2, 4]);
  });

  test.each([
    ["a key given twice", "kind: pay-run\nlate: ask\n«late»: ask", "given twice"],
    ["a key given twice in braces", "kind: pay-run\npay: { from: a, «from»: b }", "given twice"],
    ["an alias", "kind: &k pay-run\nbusiness: «*k»", "aliases are not allowed"],
    ["a foreign tag", "kind: pay-run\nbusiness: !env «ACME»", "tag !env"],
    ["binary data", "kind: pay-run\nbusiness: !!binary «aGk=»", "binary data"],
    ["a key of several words", "kind: pay-run\n? «[a, b]»\n: c", "a key must be a single word"],
    ["an empty key", "kind: pay-run\n«»: c", "unknown key"],
    ["a merge key", "kind: pay-run\n«<<»: { late: ask }", "unknown key `<<`"],
    ["a prototype", "kind: pay-run\n«__proto__»: { late: ask }", "unknown key `__proto__`"],
  ])("a playbook with %s is refused", (_, marked, message) => {
    const text = marked.replace(/[«»]/g, "");
    const line = marked.slice(0, marked.indexOf("«")).split("\n").length;
    const problems = problemsOf(text);
    const found = problems.find((problem) => problem.message.includes(message));
    expect(found).toMatchObject({ line });
  });

  test.each([
    ["keys that nobody knows", `limits: { perBill: ${"1,000".repeat(10_000)} }`],
    ["aliases", `limits: { perBill: [${"*a, ".repeat(14_000)}] }`],
    ["rules that are none", `approve: [${"{ by: [x] }, ".repeat(4_800)}]`],
  ])("a long line with thousands of %s is reported at most a hundred times", (_, line) => {
    const problems = problemsOf(`kind: pay-run\n${line}`);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.length).toBeLessThanOrEqual(100);
  });

  test("nested aliases that would unfold to a huge document are refused without unfolding them", () => {
    const levels = Array.from({ length: 30 }, (_, i) =>
      i === 0 ? "a0: &a0 [x, x]" : `a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`,
    );
    const problems = problemsOf(`kind: pay-run\n${levels.join("\n")}`);
    expect(problems.filter(({ message }) => message.includes("aliases"))).toHaveLength(58);
  });

  test.each([
    ["", "empty"],
    ["# only a comment\n", "empty"],
    ["---\n", "empty"],
    ["[".repeat(60_000), "nested too deeply"],
    ["a: ".repeat(2_000), ""],
    [`kind: pay-run\nx: ${"[".repeat(40)}${"]".repeat(40)}`, ""],
    ["\u0000\u0001\u0002", "not a text file"],
    ["a: b\n".repeat(1_000_000), "too large"],
    [Array.from({ length: 6_000 }, (_, i) => `k${i}: 1`).join("\n"), ""],
  ])("a text that is no playbook at all is refused (%#)", (text, message) => {
    const problems = problemsOf(text);
    expect(problems[0]?.message).toContain(message);
    expect(formatProblems(problems)).not.toBe("");
  });
});

describe("all mistakes of a file", () => {
  const text = [
    "kind: payrun",
    "limits: { bill: 50000, vendor: $5k }",
    'where: payable.amount > "3"',
    "approve:",
    "  - { over: 5k, by: [] }",
    "late: later",
  ].join("\n");

  test("all mistakes of a file are reported at once, in the order of the text", () => {
    expect(problemsOf(text).map(({ line, column }) => `${line}:${column}`)).toEqual([
      "1:7",
      "2:17",
      "2:24",
      "3:16",
      "5:13",
      "5:21",
      "6:7",
    ]);
  });

  test("mistakes are printed with place, line, caret, what was expected and what was probably meant", () => {
    expect(formatProblems(problemsOf(text).slice(0, 2))).toBe(
      [
        "weekly.yaml:1:7  `kind` can't be `payrun`",
        "  1 | kind: payrun",
        "    |       ^^^^^^",
        `  expected one of ${Object.keys(PLAYBOOK_KINDS).join(", ")}`,
        "  did you mean `pay-run`?",
        "",
        "weekly.yaml:2:17  `50000` has no unit",
        "  2 | limits: { bill: 50000, vendor: $5k }",
        "    |                 ^^^^^",
        "  expected an amount in US dollars, such as $50k, $1.5M, $75,000 or $1,234.56",
        "  did you mean `$50,000`?",
      ].join("\n"),
    );
  });

  test("mistakes are printed without anything that could control a terminal", () => {
    const problems = problemsOf('kind: pay-run\nbusiness: "\\e[2J\u009b31m"\n');
    // The only control characters left are line ends.
    expect(formatProblems(problems).replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });

  test("the caret stays under the mistake on a very long line", () => {
    const printed = formatProblems(problemsOf(`kind: pay-run\npay: {${" ".repeat(900)}form: x }`));
    const [, line = "", caret = ""] = printed.split("\n");
    expect(line.length).toBeLessThan(200);
    expect(line.slice(caret.indexOf("^"), caret.lastIndexOf("^") + 1)).toBe("form");
  });
});
