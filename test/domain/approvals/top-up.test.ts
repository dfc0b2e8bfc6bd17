import { expect, test } from "vitest";
import {
  type DecidableTopUp,
  judgeTopUpDecision,
  type TopUpDecisionInput,
} from "../../../src/domain/approvals/top-up.ts";

const TOP_UP: DecidableTopUp = {
  ...{ subject: "deposit_1", hash: "h1", approvers: ["controller", "owner"], quorum: 2 },
  ...{ proposed: true, unclear: false },
};

function judge(
  kind: "approve" | "reject",
  topUp: Partial<DecidableTopUp> = {},
  changes: Partial<TopUpDecisionInput> = {},
) {
  return judgeTopUpDecision({
    decision: { kind, hash: "h1" },
    run: {
      ...{ ended: false, planHash: "plan", launchers: ["lena"] },
      ...{ cancelRequested: false, onlyPlans: false },
    },
    token: { name: "carol", roles: ["controller"], isLaunchers: false },
    ...{ playbookAuthors: ["pat"], singlePerson: false },
    topUp: { ...TOP_UP, ...topUp },
    ...changes,
  });
}

const MADE = { accepted: false, code: "nothing_left" };

test("an approval counts for exactly the deposit that was seen, as long as it is not sent", () => {
  const counted = {
    payableId: "deposit_1",
    lineHash: "h1",
    approvers: ["controller", "owner"],
    quorum: 2,
  };
  expect(judge("approve")).toEqual({ accepted: true, countsFor: [counted], dropped: [] });
  expect(judge("approve", { hash: "h2" })).toMatchObject({ accepted: false, code: "stale_plan" });
  expect(judge("approve", {}, { topUp: undefined })).toMatchObject(MADE);
});

test("an approval of a deposit that was sent is refused, so it counts for no second attempt", () => {
  expect(judge("approve", { proposed: false })).toMatchObject(MADE);
  expect(judge("approve", { proposed: false, unclear: true })).toMatchObject(MADE);
});

test("a deposit is refused before it is sent, and afterwards only while nobody knows whether it was made", () => {
  const refused = { accepted: true, countsFor: [], dropped: [] };
  expect(judge("reject")).toEqual(refused);
  expect(judge("reject", { proposed: false, unclear: true })).toEqual(refused);
  expect(judge("reject", { proposed: false })).toMatchObject(MADE);
});

test("only a role that the playbook names decides about a deposit", () => {
  for (const kind of ["approve", "reject"] as const) {
    const as = (roles: readonly string[]) =>
      judge(kind, {}, { token: { name: "carol", roles, isLaunchers: false } });
    expect(as(["owner"])).toMatchObject({ accepted: true });
    expect(as(["operator", "cfo"])).toMatchObject({
      ...{ accepted: false, code: "role_missing" },
      reason: "a deposit takes one of the roles controller, owner",
    });
  }
});

test("no launcher of the run and no author of its playbook approves its deposit, unless one person may do both", () => {
  const asLena = { token: { name: "Lena", roles: ["owner"], isLaunchers: false } };
  const asPat = { token: { name: "pat", roles: ["owner"], isLaunchers: false } };
  const byLaunchersToken = { token: { name: "carol", roles: ["owner"], isLaunchers: true } };
  expect(judge("approve", {}, asLena)).toMatchObject({ code: "launcher" });
  expect(judge("approve", {}, asPat)).toMatchObject({ code: "playbook_author" });
  expect(judge("approve", {}, byLaunchersToken)).toMatchObject({ code: "launchers_token" });
  const alone = { singlePerson: true };
  expect(judge("approve", {}, { ...asLena, ...alone })).toMatchObject({ alone: true });
  expect(judge("approve", {}, alone)).not.toHaveProperty("alone");
});
