import { describe, expect, test } from "vitest";
import type { ApprovalStage } from "../../../src/contracts/playbook.ts";
import { judgeDecision } from "../../../src/domain/approvals/policy.ts";
import { openStageOf, type StagedLine, turnOf } from "../../../src/domain/approvals/stages.ts";

const CONTROLLER: ApprovalStage = {
  by: ["controller"],
  quorum: 1,
  escalate: { after: { count: 2, unit: "business days" }, to: ["cfo"] },
};
const OWNERS: ApprovalStage = { by: ["owner"], quorum: 2 };

/** A line with approvals written as `name` or `name@stage`. */
function line(approved: readonly string[] = [], escalated: number | null = null): StagedLine {
  const approvals = approved.map((text) => {
    const [principal = "", stage = "1"] = text.split("@");
    return { principal, stage: Number(stage) - 1 };
  });
  return { stages: [CONTROLLER, OWNERS], approvals, escalated };
}

function turn(of: StagedLine, name: string, ...roles: readonly string[]): string {
  const found = turnOf(of, { principal: name, roles: new Set(roles) });
  const stage = "stage" in found ? ` ${found.stage + 1}` : "";
  return `${found.kind}${stage}${"escalated" in found && found.escalated ? " escalated" : ""}`;
}

describe("the open stage", () => {
  test("the open stage is the first without its quorum of different people", () => {
    expect(openStageOf(line())).toBe(0);
    expect(openStageOf(line(["cora"]))).toBe(1);
    expect(openStageOf(line(["cora", "olga@2"]))).toBe(1);
    expect(openStageOf(line(["cora", "olga@2", "otto@2"]))).toBe(null);
  });

  test("a stage whose approvals are gone is open again, whatever approvals later stages have", () => {
    expect(openStageOf(line(["olga@2", "otto@2"]))).toBe(0);
  });

  test("two tokens of one name count once in a stage", () => {
    expect(openStageOf(line(["cora", "olga@2", " Olga@2"]))).toBe(1);
  });

  test("a stage needs at least one approval, whatever the playbook says", () => {
    const stages = [{ by: ["owner"], quorum: 0 }];
    expect(openStageOf({ stages, approvals: [] })).toBe(0);
  });
});

describe("a decision", () => {
  test("a decision counts in the open stage for a person with its role", () => {
    expect(turn(line(), "cora", "controller")).toBe("counts 1");
    expect(turn(line(["cora"]), "olga", "owner")).toBe("counts 2");
    expect(turn(line(["cora"]), "vera", "viewer")).toBe("no-say");
  });

  test("a decision for a later stage comes too early", () => {
    expect(turn(line(), "olga", "owner")).toBe("too-early 1");
  });

  test("a person's decision counts in one stage, whatever roles they have", () => {
    expect(turn(line(), "both", "controller", "owner")).toBe("counts 1");
    expect(turn(line(["both"]), "Both ", "controller", "owner")).toBe("counted-before 2");
    expect(turn(line(["olga@2"]), "olga", "controller", "owner")).toBe("counted-before 1");
  });

  test("a second decision of the same approver renews the approval", () => {
    expect(turn(line(["cora"]), "cora", "controller")).toBe("counts 1");
    expect(turn(line(["cora", "olga@2", "otto@2"]), "olga", "owner")).toBe("counts 2");
    expect(turn(line(["cora"]), "cora", "viewer")).toBe("no-say");
  });

  test("another approval in a finished stage adds nothing to the next one", () => {
    expect(turn(line(["cora"]), "carl", "controller")).toBe("counts 1");
    expect(openStageOf(line(["cora", "carl"]))).toBe(1);
  });

  test("an escalation's roles count after the escalation, in that stage alone", () => {
    expect(turn(line(), "fay", "cfo")).toBe("no-say");
    expect(turn(line([], 0), "fay", "cfo")).toBe("counts 1 escalated");
    expect(turn(line([], 0), "cora", "controller")).toBe("counts 1");
    expect(turn(line(["cora"], 0), "fay", "cfo")).toBe("no-say");
    expect(turn(line(["fay"], null), "fay", "cfo", "owner")).toBe("counted-before 2");
  });
});

describe("a decision on a plan whose lines have stages", () => {
  const judge = (
    of: StagedLine,
    name: string,
    roles: readonly string[],
    changes: { kind?: "approve" | "reject"; drop?: readonly string[]; launchedBy?: string } = {},
  ) => {
    const { kind = "approve", drop = [], launchedBy = "lou" } = changes;
    const staged = { payableId: "p1", lineHash: "h1", approvers: [], quorum: 3, staged: of };
    const plain = { payableId: "p2", lineHash: "h2", approvers: ["owner"], quorum: 1 };
    const verdict = judgeDecision({
      decision: { kind, planHash: "H", drop },
      run: {
        ...{ ended: false, planHash: "H", launchers: [launchedBy] },
        ...{ cancelRequested: false, onlyPlans: false },
      },
      token: {
        name,
        roles,
        isLaunchers: false,
      },
      playbookAuthors: ["ada"],
      singlePerson: false,
      lines: roles.includes("owner") ? [staged, plain] : [staged],
      mayStillPay: new Set(),
    });
    if (!verdict.accepted) return `${verdict.code}: ${verdict.reason}`;
    return {
      counts: verdict.countsFor.map(({ payableId, stage = 0 }) => `${payableId}@${stage + 1}`),
      tooEarly: verdict.tooEarly ?? [],
      dropped: verdict.dropped,
    };
  };

  test("a decision on staged lines counts for lines in its stage, and says for which it comes too early", () => {
    expect(judge(line(), "olga", ["owner"])).toEqual({
      counts: ["p2@1"],
      tooEarly: ["p1"],
      dropped: [],
    });
  });

  test("a decision that counts for nothing is refused with the stage that decides first", () => {
    expect(judge(line(), "fay", ["cfo"])).toMatch(/^role_missing: .*roles controller, owner$/);
    const both = ["controller", "owner"];
    expect(judge(line(["both"]), "both", ["controller"])).toMatchObject({ counts: ["p1@1"] });
    expect(judge(line(["cora", "both@2"]), "both", both)).toMatchObject({
      counts: ["p1@2", "p2@1"],
    });
    const early = { ...line(), stages: [CONTROLLER, { by: ["cfo"], quorum: 1 }] };
    expect(judge(early, "fay", ["cfo"])).toBe(
      "stage_not_open: controller decides first: stage 1 of 2 of this approval is still open",
    );
    const again = {
      ...line(["fay"]),
      stages: [CONTROLLER, { by: ["cfo"], quorum: 1 }],
    };
    expect(judge(again, "fay", ["cfo"])).toBe(
      "counted_before: fay has approved in another stage; stage 2 of 2 needs another person",
    );
  });

  test("a person of any stage may drop a line or reject the plan, even before their stage is open", () => {
    const dropped = judge(line(), "olga", ["owner"], { drop: ["p1", "p2"] });
    expect(dropped).toEqual({ counts: [], tooEarly: [], dropped: ["p1", "p2"] });
    expect(judge(line(), "olga", ["owner"], { kind: "reject" })).toMatchObject({ counts: [] });
    expect(judge(line([], 0), "fay", ["cfo"], { kind: "reject" })).toMatchObject({ counts: [] });
  });

  test("the launcher's decision counts in no stage", () => {
    for (const each of [line(), line(["cora"]), line(["cora"], 1)]) {
      expect(judge(each, "Lou", ["controller", "owner", "cfo"])).toMatch(/^launcher: /);
    }
  });
});
