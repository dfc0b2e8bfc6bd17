import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { onlyMistake } from "./marked.ts";

const RULES = "kind: retry-failed\nrules:\n";

describe("a retry-failed playbook", () => {
  test("a retry-failed playbook of one line has the built-in rules", () => {
    const loaded = loadPlaybook("kind: retry-failed\n", { file: "retry-failed.yaml" });
    expect(loaded).toMatchObject({
      ok: true,
      playbook: {
        giveUpAfterDays: 30,
        giveUpNotify: ["controller"],
        rules: [
          { codes: ["R01", "R09"], action: "retry", pause: true, when: "when-released", atMost: 2 },
          { codes: ["R02", "R03", "R04", "R12", "R13"], action: "hold-vendor", payAgain: true },
          { codes: [], words: [], action: "ask", by: ["operator"] },
        ],
      },
    });
  });

  test("the example calls back what is scheduled from an account that is ours, and a rule by itself only names it", () => {
    const example = readFileSync("playbooks/retry-failed.yaml", "utf8");
    const onIncident = (text: string) => {
      const loaded = loadPlaybook(text, { file: "retry-failed.yaml" });
      if (!loaded.ok || loaded.playbook.kind !== "retry-failed") throw new Error("not loaded");
      return loaded.playbook.rules.flatMap((rule) => (rule.pause ? [rule.onIncident] : []));
    };
    expect(onIncident(example)).toEqual(["cancel-scheduled", "cancel-scheduled"]);
    const rule = "{ match: [R01], pause: funding-account, retry: when-released }";
    expect(onIncident(`${RULES}  - ${rule}\n`)).toEqual([undefined]);
  });

  test("a rule keeps codes apart from words, and allows two retries by default", () => {
    const text = `${RULES}  - { match: [R09, no cover], retry: tuesday, by: [treasurer] }\n`;
    expect(loadPlaybook(text, { file: "bounced.yaml" })).toMatchObject({
      ok: true,
      playbook: {
        rules: [
          {
            codes: ["R09"],
            words: ["no cover"],
            when: "tuesday",
            atMost: 2,
            pause: false,
            by: ["treasurer"],
          },
        ],
      },
    });
  });

  test.each([
    [
      "more than two retries",
      "  - { match: [R01], retry: next-business-day, atMost: «3» }",
      /Nacha's rules allow 2/,
    ],
    ["a retry of R10", "  - { match: «[R01, R10]», retry: next-business-day }", /`R10` may not/],
    [
      "a retry of words that mean R02",
      "  - { match: «[account closed]», retry: monday }",
      /`account closed` may not be tried again: Nacha/,
    ],
    [
      "a retry of anything else",
      "  - { match: «anything-else», retry: next-business-day }",
      /anything else may not be tried again: Nacha/,
    ],
    [
      "new bank details for an unauthorised debit",
      "  - { match: «[R29]», hold: vendor, payAgain: when-bank-account-changed }",
      /`R29` is not fixed/,
    ],
    [
      "paying again into the same account",
      "  - { match: [R02], ask: [operator], «payAgain»: when-bank-account-changed }",
      /without `hold`/,
    ],
    [
      "waiting for a release of nothing",
      "  - { match: [R01], retry: «when-released» }",
      /nothing is paused/,
    ],
    [
      "paying from a paused account",
      "  - { match: [R01], pause: funding-account, retry: «next-business-day» }",
      /paused/,
    ],
    [
      "calling back from an account that nothing holds",
      "  - { match: [R01], retry: monday, «onIncident»: cancel-scheduled }",
      /nothing is paused/,
    ],
    ["two answers", "  - { match: [R01], retry: monday, «ask»: [operator] }", /exclude each other/],
    ["no answer", "  - «{ match: [R08] }»", /says nothing/],
    ["a limit of nothing", "  - { match: [R08], ask: [operator], «atMost»: 1 }", /limits nothing/],
    [
      "a rule behind the last one",
      "  - { match: anything-else, ask: [operator] }\n  - «{ match: [R08], ask: [owner] }»",
      /never reached/,
    ],
    [
      "a code in two rules",
      "  - { match: [R08], ask: [owner] }\n  - { match: «[R08]», ask: [operator] }",
      /earlier rule/,
    ],
  ])("a retry-failed playbook is refused for %s", (_, rule, message) => {
    const problem = onlyMistake(`${RULES}${rule}\n`);
    expect(problem.message).toMatch(message);
    expect(problem.expected).toEqual(expect.any(String));
  });

  test.each([
    ["a code in small letters", "  - { match: «[r01]», ask: [operator] }", "R01"],
    ["one code without a list", "  - { match: «R01», ask: [operator] }", "[R01]"],
    ["an unknown day", "  - { match: [R01], retry: «tusday» }", "tuesday"],
  ])("a mistake such as %s is reported with what was probably meant", (_, rule, guess) => {
    expect(onlyMistake(`${RULES}${rule}\n`).didYouMean).toBe(guess);
  });

  test("a retry-failed playbook can't give up later than Nacha ends reinitiations", () => {
    const problem = onlyMistake("kind: retry-failed\ngiveUp: { after: «200 days» }\n");
    expect(problem.message).toMatch(/Nacha's rules end reinitiations 180 days after/);
    expect(problem.expected).toMatch(/1 to 180 days/);
  });
});
