import { describe, expect } from "vitest";
import type { ApprovalStage } from "../../src/contracts/playbook.ts";
import { DecisionBody } from "../../src/api/schemas.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { decisionsOfRun } from "../../src/store/approvals/decisions.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import type { Answer, TestGateway } from "./support/gateway.ts";
import { isApproved, lineState, planLine, seedRun, type SeededRun } from "./support/rows.ts";

const STAGES: readonly ApprovalStage[] = [
  {
    by: ["controller"],
    quorum: 1,
    escalate: { after: { count: 2, unit: "business days" }, to: ["cfo"] },
  },
  { by: ["owner"], quorum: 2 },
];
const STAGED = { stages: STAGES, approvers: ["controller", "owner"], quorum: 3, ruleIndex: 0 };

const test = gatewayTest().extend("run", { auto: true }, ({ gateway }) =>
  seedRun(gateway.store, {
    launchedBy: "lou",
    lines: [planLine("p_large", STAGED), planLine("p_other", STAGED), planLine("p_plain")],
  }),
);

async function decide(
  gateway: TestGateway,
  run: SeededRun,
  name: string,
  role: string,
  changes: Record<string, unknown> = {},
): Promise<Answer> {
  const path = `/v1/runs/${encodeURIComponent(run.runId)}/decisions`;
  const body = { decision: "approve", planHash: run.planHash, ...changes };
  return gateway.call("POST", path, await gateway.token(name, [role]), body);
}

function approved(gateway: TestGateway, run: SeededRun, payableId: string): Promise<boolean> {
  return isApproved(gateway.store, run.runId, payableId);
}

async function trail(gateway: TestGateway, run: SeededRun): Promise<[string, string, unknown][]> {
  const filter = { businessId: "biz_acme", subject: run.runId };
  const entries = await listAudit(gateway.store.db, filter);
  return entries
    .filter(({ action }) =>
      ["run.approved", "run.rejected", "run.decision-refused"].includes(action),
    )
    .map(({ actor, action, details }) => [actor, action, details["stages"] ?? details["code"]]);
}

/** Escalates lines as the run's own look does. */
async function escalate(gateway: TestGateway): Promise<void> {
  await gateway.store.db
    .updateTable("run_lines")
    .set({ escalated: 1 })
    .where("payable_id", "!=", "p_plain")
    .execute();
}

describe("approvals in stages", () => {
  test("approvals count in their stage's turn, and approve a line only once the last has its quorum", async ({
    gateway,
    run,
  }) => {
    const first = DecisionBody.parse((await decide(gateway, run, "cora", "controller")).json);
    expect(first.countsFor).toEqual(["p_large", "p_other", "p_plain"]);
    expect(first.missing).toEqual([
      { by: ["owner"], quorum: 2, approvals: 0, lines: 2, totalCents: 20_000, stage: 2, stages: 2 },
    ]);
    expect(await approved(gateway, run, "p_plain")).toBe(true);
    expect(await approved(gateway, run, "p_large")).toBe(false);
    const second = DecisionBody.parse((await decide(gateway, run, "olga", "owner")).json);
    expect(second.missing).toMatchObject([{ quorum: 2, approvals: 1, stage: 2 }]);
    expect(await approved(gateway, run, "p_large")).toBe(false);
    const third = DecisionBody.parse((await decide(gateway, run, "otto", "owner")).json);
    expect(third.missing).toEqual([]);
    expect(await approved(gateway, run, "p_large")).toBe(true);
    expect(await trail(gateway, run)).toEqual([
      ["cora", "run.approved", { "1 of 2": { lines: 2, escalated: 0 } }],
      ["olga", "run.approved", { "2 of 2": { lines: 2, escalated: 0 } }],
      ["otto", "run.approved", { "2 of 2": { lines: 2, escalated: 0 } }],
    ]);
  });

  test("an approval before its turn doesn't count, and says for which bills and whose turn it is", async ({
    gateway,
    run,
  }) => {
    const early = DecisionBody.parse((await decide(gateway, run, "olga", "owner")).json);
    expect(early.countsFor).toEqual(["p_plain"]);
    expect(early.tooEarly).toEqual(["p_large", "p_other"]);
    expect(early.missing).toMatchObject([{ by: ["controller"], stage: 1, stages: 2, lines: 2 }]);
    await decide(gateway, run, "cora", "controller");
    // The same decision again, now in its turn, counts.
    const again = DecisionBody.parse((await decide(gateway, run, "olga", "owner")).json);
    expect(again.countsFor).toEqual(["p_large", "p_other", "p_plain"]);
    expect(again.tooEarly).toBeUndefined();
    await decide(gateway, run, "otto", "owner");
    expect(await approved(gateway, run, "p_large")).toBe(true);
  });

  test("one person counts in one stage only, however many roles and tokens they have", async ({
    gateway,
    run,
  }) => {
    await decide(gateway, run, "cora", "controller");
    const again = await decide(gateway, run, " Cora", "owner");
    expect(again.status).toBe(200);
    expect(again.json["countsFor"]).toEqual(["p_plain"]);
    await decide(gateway, run, "olga", "owner");
    await decide(gateway, run, "Olga", "owner");
    expect(await approved(gateway, run, "p_large")).toBe(false);
    const decisions = await decisionsOfRun(gateway.store.db, run.runId);
    expect(decisions.map(({ principal }) => principal)).toContain("cora");
  });

  test("an approval given twice counts once and opens no stage", async ({ gateway, run }) => {
    const token = await gateway.token("cora", ["controller"]);
    const path = `/v1/runs/${encodeURIComponent(run.runId)}/decisions`;
    const body = { decision: "approve", planHash: run.planHash };
    const first = await gateway.call("POST", path, token, body);
    const second = await gateway.call("POST", path, token, body);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.json["countsFor"]).toEqual(first.json["countsFor"]);
    expect(await decisionsOfRun(gateway.store.db, run.runId)).toHaveLength(1);
  });

  test("of simultaneous approvals of two stages, the later stage's counts only if it came second", async ({
    gateway,
    run,
  }) => {
    const answers = await Promise.all([
      decide(gateway, run, "cora", "controller"),
      decide(gateway, run, "olga", "owner"),
      decide(gateway, run, "otto", "owner"),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const owners = answers.slice(1).map(({ json }) => DecisionBody.parse(json));
    const inTurn = owners.filter(({ countsFor }) => countsFor.includes("p_large"));
    expect(owners.filter(({ tooEarly }) => tooEarly?.includes("p_large") ?? false)).toHaveLength(
      2 - inTurn.length,
    );
    expect(await approved(gateway, run, "p_large")).toBe(inTurn.length === 2);
  });

  test("approvals of an old plan or by the launcher count in no stage", async ({
    gateway,
    run,
  }) => {
    expect((await decide(gateway, run, "cora", "controller", { planHash: "old" })).status).toBe(
      409,
    );
    expect((await decide(gateway, run, "lou", "controller")).json["error"]).toBe("launcher");
    await decide(gateway, run, "cora", "controller");
    expect((await decide(gateway, run, "olga", "owner", { planHash: "old" })).status).toBe(409);
    expect((await decide(gateway, run, "Lou ", "owner")).json["error"]).toBe("launcher");
    expect(await approved(gateway, run, "p_large")).toBe(false);
  });
});

describe("leaving a bill out of a staged approval", () => {
  test("a bill left out in the first stage stays out if a later stage approves it", async ({
    gateway,
    run,
  }) => {
    const first = await decide(gateway, run, "cora", "controller", { drop: ["p_large"] });
    expect(first.json["dropped"]).toEqual(["p_large"]);
    const second = DecisionBody.parse((await decide(gateway, run, "olga", "owner")).json);
    expect(second.countsFor).toEqual(["p_other", "p_plain"]);
    await decide(gateway, run, "otto", "owner");
    expect(await lineState(gateway.store, run.runId, "p_large")).toBe("cancelled");
    expect([
      await approved(gateway, run, "p_large"),
      await approved(gateway, run, "p_other"),
    ]).toEqual([false, true]);
  });

  test("an approver of a later stage may leave a bill out before their turn", async ({
    gateway,
    run,
  }) => {
    const answer = await decide(gateway, run, "olga", "owner", { drop: ["p_large"] });
    expect(answer.json["dropped"]).toEqual(["p_large"]);
    expect(await lineState(gateway.store, run.runId, "p_large")).toBe("cancelled");
  });
});

describe("an escalation", () => {
  test("an escalation lets its role decide in the stage, and only after it", async ({
    gateway,
    run,
  }) => {
    expect((await decide(gateway, run, "fay", "cfo")).json["error"]).toBe("role_missing");
    await escalate(gateway);
    const answer = DecisionBody.parse((await decide(gateway, run, "fay", "cfo")).json);
    expect(answer.countsFor).toEqual(["p_large", "p_other"]);
    expect(await approved(gateway, run, "p_large")).toBe(false);
    await decide(gateway, run, "olga", "owner");
    await decide(gateway, run, "otto", "owner");
    expect(await approved(gateway, run, "p_large")).toBe(true);
    expect((await trail(gateway, run)).filter(([actor]) => actor === "fay")).toEqual([
      ["fay", "run.decision-refused", "role_missing"],
      ["fay", "run.approved", { "1 of 2": { lines: 2, escalated: 2 } }],
    ]);
  });

  test("an escalation of the first stage doesn't let its role decide in the second", async ({
    gateway,
    run,
  }) => {
    await escalate(gateway);
    await decide(gateway, run, "cora", "controller");
    expect((await decide(gateway, run, "fay", "cfo")).json["error"]).toBe("nothing_left");
    expect(await approved(gateway, run, "p_large")).toBe(false);
  });
});
