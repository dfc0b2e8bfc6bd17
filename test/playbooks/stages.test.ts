import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { formatProblems } from "../../src/playbooks/problem.ts";
import { onlyMistake } from "./marked.ts";

const LAST = "\n  - { by: [controller, owner] }\n";
const RULES = "kind: pay-run\napprove:\n";

function load(text: string): PayRunPlaybook {
  const loaded = loadPlaybook(text, { file: "weekly.yaml" });
  if (loaded.ok && loaded.playbook.kind === "pay-run") return loaded.playbook;
  throw new Error(loaded.ok ? "not a pay-run" : formatProblems(loaded.problems));
}

describe("stages", () => {
  test("stages follow one another, and a rule with `by` alone stays without stages", () => {
    const { approve } = load(
      `${RULES}  - { over: $25k, stages: [{ by: [controller] }, { by: [owner], quorum: 2 }] }${LAST}`,
    );
    expect(approve).toEqual([
      {
        review: false,
        overCents: 2_500_000,
        where: null,
        by: ["controller", "owner"],
        quorum: 3,
        stages: [
          { by: ["controller"], quorum: 1 },
          { by: ["owner"], quorum: 2 },
        ],
      },
      { review: false, overCents: null, where: null, by: ["controller", "owner"], quorum: 1 },
    ]);
  });

  test("a stage escalates as it says, else as its rule says, else as the playbook says", () => {
    const { approve, remind } = load(
      `${RULES}  - over: $9k
    stages:
      - { by: [controller], escalate: { after: 4 hours, to: [chief] } }
      - { by: [owner] }
    escalate: { after: 1 day, to: [cfo] }
  - by: [cfo, owner]
escalate: { after: 2 business days, to: [cfo, board] }
remind: { after: 4 hours }
`,
    );
    expect(approve.map(({ stages }) => stages?.map(({ escalate }) => escalate))).toEqual([
      [
        { after: { count: 4, unit: "hours" }, to: ["chief"] },
        { after: { count: 1, unit: "days" }, to: ["cfo"] },
      ],
      // The CFO decides in this stage already.
      [{ after: { count: 2, unit: "business days" }, to: ["board"] }],
    ]);
    const fourHours = { count: 4, unit: "hours" };
    expect(remind).toEqual({ after: fourHours, every: fourHours });
  });
});

test("the example in docs/approvals.md loads as it stands", () => {
  const page = readFileSync(new URL("../../docs/approvals.md", import.meta.url), "utf8");
  const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text ?? "");
  const block = blocks.find((text) => text.includes("remind:")) ?? "";
  const { approve, remind } = load(`kind: pay-run\n${block}`);
  const escalations = approve.map(({ stages }) => stages?.map(({ escalate }) => escalate?.to));
  expect(escalations).toEqual([[["cfo"], ["chair"]], [["cfo"]]]);
  expect(remind?.after).toEqual({ count: 1, unit: "days" });
});

describe("one mistake, at its place", () => {
  const stages = (list: string): string => `${RULES}  - { over: $5, stages: ${list} }${LAST}`;

  test.each([
    ["no stage", stages("«[]»"), "nobody could approve"],
    ["a stage of nobody", stages("[{ by: «[]» }]"), "nobody could approve"],
    ["a stage without approvers", stages("[«{ quorum: 2 }»]"), "`by` is missing"],
    ["stages beside approvers", stages("[{ by: [owner] }], «by»: [cfo]"), "exclude each other"],
    ["stages beside a quorum", stages("[{ by: [owner] }], «quorum»: 2"), "exclude each other"],
    ["a role twice in a stage", stages("[{ by: [owner, «owner»] }]"), "listed twice"],
    [
      "a role in two stages",
      stages("[{ by: [owner] }, { by: [cfo, «owner»] }]"),
      "decides in stage 1 already",
    ],
    [
      "a crowd in all stages together",
      stages("«[{ by: [owner], quorum: 6 }, { by: [cfo], quorum: 5 }]»"),
      "nobody can reach 11 different people",
    ],
    ["a quorum of nobody", stages("[{ by: [owner], quorum: «0» }]"), "asks nobody"],
    ["Payrun's own role", stages("[{ by: [«admin»] }]"), "approves nothing"],
    [
      "an escalation to the same",
      stages("[{ by: [owner], escalate: { after: 1 day, to: «[owner]» } }]"),
      "decide here anyway",
    ],
    [
      "an escalation to the same everywhere",
      "kind: pay-run\nescalate: { after: 1 day, to: «[owner]» }",
      "decide everywhere anyway",
    ],
    [
      "an escalation after the end",
      "kind: pay-run\napprovalValid: 5 days\nescalate: { after: «4 business days», to: [cfo] }",
      "`approvalValid` is 5 days",
    ],
    ["a reminder after the end", "kind: pay-run\nremind: { after: «30 days» }", "30 days"],
    ["a reminder at once", "kind: pay-run\nremind: { after: «0 days» }", "out of range"],
    [
      "reminders that never come",
      "kind: pay-run\n«remind»: { every: 1 day }",
      "`after` is missing",
    ],
  ])("a playbook with %s is refused at that place", (_, marked, message) => {
    expect(onlyMistake(marked).message).toContain(message);
  });

  test.each([
    ["weeks", "«1 week»", "7 days"],
    ["business weeks", "«1 business week»", "5 business days"],
    ["hours in short", "«4h»", "4 hours"],
    ["a number", "«2»", "2 days"],
  ])("a time in %s is refused with what was probably meant", (_, after, guess) => {
    const problem = onlyMistake(`kind: pay-run\nremind: { after: ${after} }`);
    expect(problem.didYouMean).toBe(guess);
  });
});
