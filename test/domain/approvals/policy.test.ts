import { describe, expect, it } from "vitest";
import type { ApprovalRule } from "../../../src/contracts/playbook.ts";
import { type DecisionInput, judgeDecision } from "../../../src/domain/approvals/policy.ts";
import { ruleFor } from "../../../src/domain/approvals/rules.ts";
import { quorumOf } from "../../../src/contracts/principal.ts";

const ANY: ApprovalRule = {
  review: false,
  overCents: null,
  where: null,
  by: ["controller", "owner"],
  quorum: 1,
};
const REVIEW = { ...ANY, review: true, quorum: 2 };
const OVER = { ...ANY, overCents: 2_500_000, by: ["owner"] };
const RENT = { ...ANY, where: "rent" };

const SMALL = { payableId: "p1", lineHash: "h1", approvers: ["controller", "owner"], quorum: 1 };
const LARGE = { payableId: "p2", lineHash: "h2", approvers: ["owner"], quorum: 1 };

function input(changes: {
  decision?: Partial<DecisionInput["decision"]>;
  run?: Partial<DecisionInput["run"]>;
  token?: Partial<DecisionInput["token"]>;
  playbookAuthors?: readonly string[];
  singlePerson?: boolean;
  mayStillPay?: readonly string[];
}): DecisionInput {
  return {
    decision: { kind: "approve", planHash: "H", drop: [], ...changes.decision },
    run: {
      ended: false,
      planHash: "H",
      launchers: ["alice"],
      cancelRequested: false,
      onlyPlans: false,
      ...changes.run,
    },
    token: {
      name: "carol",
      roles: ["controller"],
      isLaunchers: false,
      ...changes.token,
    },
    playbookAuthors: changes.playbookAuthors ?? ["root"],
    singlePerson: changes.singlePerson ?? false,
    lines: [SMALL, LARGE],
    mayStillPay: new Set(changes.mayStillPay),
  };
}

function refusal(changes: Parameters<typeof input>[0]): string {
  const verdict = judgeDecision(input(changes));
  return verdict.accepted ? "accepted" : verdict.code;
}

describe("the rule of a line", () => {
  const rules = [REVIEW, OVER, RENT, ANY];
  const index = (billCents: number, inReview: boolean, rent = false) =>
    ruleFor({ billCents, inReview }, rules, () => rent).index;

  it("a line needs the first rule that matches", () => {
    expect(index(100, true)).toBe(0);
    expect(index(2_500_001, false)).toBe(1);
    expect(index(2_500_000, false)).toBe(3);
    expect(index(100, false, true)).toBe(2);
  });

  it("a line falls under a rule by what its vendor is paid besides, or knows that it would", () => {
    const week = { ...OVER, overPer: "vendor-week" as const, where: "rent" };
    const run = { ...OVER, overPer: "vendor" as const };
    const found = (weekCents: number, runCents: number, rent = true) => {
      const besidesCents = { "vendor-week": weekCents, vendor: runCents };
      const facts = { billCents: 500_000, besidesCents, inReview: false };
      const { index, sumRules } = ruleFor(facts, [REVIEW, week, run, ANY], () => rent);
      return [index, ...sumRules];
    };
    expect(found(2_000_001, 0)).toEqual([1]);
    expect(found(2_000_000, 2_000_001)).toEqual([2, 1]);
    expect(found(2_000_000, 2_000_000)).toEqual([3, 1, 2]);
    expect(found(2_000_001, 0, false)).toEqual([3, 2]);
  });

  it("a line without a matching rule is an error", () => {
    expect(() => ruleFor({ billCents: 1, inReview: false }, [REVIEW], () => false)).toThrow(
      "no approval rule matches",
    );
  });
});

describe("a decision", () => {
  it("a decision counts for the lines whose rule names one of the approver's roles", () => {
    expect(judgeDecision(input({}))).toEqual({ accepted: true, countsFor: [SMALL], dropped: [] });
    expect(judgeDecision(input({ token: { roles: ["owner", "viewer"] } }))).toEqual({
      accepted: true,
      countsFor: [SMALL, LARGE],
      dropped: [],
    });
  });

  it("a decision may drop lines and still counts for the others", () => {
    const verdict = judgeDecision(
      input({ decision: { drop: ["p1"] }, token: { roles: ["owner"] } }),
    );
    expect(verdict).toEqual({ accepted: true, countsFor: [LARGE], dropped: ["p1"] });
  });

  it("a decision can't drop lines outside the approver's roles or the plan", () => {
    expect(refusal({ decision: { drop: ["p2"] } })).toBe("role_missing");
    expect(refusal({ decision: { drop: ["p9"] } })).toBe("unknown_payable");
  });

  it("a decision is refused if it drops a line that a request may still pay", () => {
    const drop = { decision: { drop: ["p1"] }, token: { roles: ["owner"] } };
    expect(refusal({ ...drop, mayStillPay: ["p1"] })).toBe("may_be_paid");
    expect(refusal({ ...drop, mayStillPay: ["p2"] })).toBe("accepted");
  });

  it("the launcher's decision does not count, under any token or spelling", () => {
    expect(refusal({ token: { name: "alice" } })).toBe("launcher");
    expect(refusal({ token: { name: " Alice" } })).toBe("launcher");
  });

  it("a decision by any author of the playbook does not count", () => {
    expect(refusal({ playbookAuthors: ["dave", "Carol "] })).toBe("playbook_author");
  });

  it("a decision by a token that the launcher made does not count", () => {
    expect(refusal({ token: { isLaunchers: true } })).toBe("launchers_token");
  });

  it("the launcher's decision counts if the business allows one person, and says so", () => {
    const alone = { singlePerson: true, token: { name: "alice" } };
    expect(judgeDecision(input(alone))).toMatchObject({ accepted: true, alone: true });
    expect(judgeDecision(input({ singlePerson: true }))).not.toHaveProperty("alone");
  });

  it("a decision needs an approver's role: admin implies none", () => {
    expect(refusal({ token: { roles: ["admin", "operator", "launcher"] } })).toBe("role_missing");
  });

  it("a decision is bound to the plan that the approver saw", () => {
    expect(refusal({ decision: { planHash: "old" } })).toBe("stale_plan");
    expect(refusal({ run: { planHash: null } })).toBe("no_plan");
  });

  it("a decision is refused once the run has ended or is being cancelled, or if the run only plans", () => {
    expect(refusal({ run: { ended: true } })).toBe("run_ended");
    expect(refusal({ run: { cancelRequested: true } })).toBe("run_ended");
    expect(refusal({ run: { onlyPlans: true } })).toBe("plan_only");
  });

  it("a person in any approver's role may reject a plan, even its launcher", () => {
    const verdict = judgeDecision(
      input({ decision: { kind: "reject" }, token: { name: "alice", roles: ["owner"] } }),
    );
    expect(verdict).toEqual({ accepted: true, countsFor: [], dropped: [] });
    expect(refusal({ decision: { kind: "reject" }, token: { roles: ["viewer"] } })).toBe(
      "role_missing",
    );
  });

  it("two tokens of one name count as one person", () => {
    expect(quorumOf(["carol", "Carol ", "dave"])).toBe(2);
  });
});

it("an approval is refused if its bills wait only for a word about their vendors' accounts, and may leave them out", () => {
  const waiting = { ...input({}), lines: [{ ...SMALL, needsWord: true }] };
  expect(judgeDecision(waiting)).toMatchObject({
    code: "nothing_left",
    reason: expect.stringContaining("payrun approve RUN --same-account VENDOR"),
  });
  const decision = { ...waiting.decision, drop: [SMALL.payableId] };
  expect(judgeDecision({ ...waiting, decision })).toMatchObject({
    ...{ accepted: true, countsFor: [], dropped: [SMALL.payableId] },
  });
});
