import { describe, expect } from "vitest";
import { createBusinessClocks } from "../../src/actions/clocks.ts";
import { takeAnyDecision } from "../../src/decisions/take-top-up.ts";
import { createToken } from "../../src/store/approvals/tokens.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { getRun, requestCancel } from "../../src/store/runs/runs.ts";
import { test } from "./support/deciding.ts";
import { profile } from "./support/gateway.ts";
import { lineState, setLine } from "./support/rows.ts";

test("a decision without a role of the playbook, or by its launcher, is refused before lines are read", async ({
  scene,
}) => {
  const drop = ["no-line-of-it"];
  const refusal = async (name: string, role: string) =>
    (await scene.decide(await scene.gateway.token(name, [role]), { drop })).json["error"];
  expect(await refusal("vic", "viewer")).toBe("role_missing");
  expect(await refusal("lou", "controller")).toBe("launcher");
  expect(await refusal("cora", "controller")).toBe("unknown_payable");
});

test("leaving out a bill whose payment has settled is refused as sent already, by its id", async ({
  scene,
}) => {
  const cora = await scene.gateway.token("cora", ["controller"]);
  await setLine(scene.gateway.store, scene.run.runId, "p1", { state: "settled" });
  const answer = await scene.decide(cora, { drop: ["p1"] });
  expect(answer).toMatchObject({ status: 409, json: { error: "already_sent" } });
  expect(answer.json["message"]).toContain("p1 was sent already");
});

describe("decisions that are refused", () => {
  test.for<readonly [string, string, string[], string]>([
    ["of the launcher", "Lou", ["controller", "launcher"], "launcher"],
    ["of who has changed the playbook", "ada", ["owner"], "playbook_author"],
    ["of an administrator who is no approver", "root", ["admin"], "role_missing"],
  ])(
    "a decision %s is refused, is recorded in the trail and approves nothing",
    async ([, name, roles, code], { scene }) => {
      const answer = await scene.decide(await scene.gateway.token(name, roles));
      expect(answer.status).toBe(403);
      expect(answer.json["error"]).toBe(code);
      expect(answer.json["message"]).toMatch(/^[A-Z].*\.$/s);
      expect(await scene.outcomes()).toEqual([]);
      for (const id of ["p1", "p2", "p_large", "p_odd"])
        expect(await scene.approved(id)).toBe(false);
      const trail = await listAudit(scene.gateway.store.db, {
        businessId: "biz_acme",
        subject: scene.run.runId,
      });
      expect(trail.at(-1)?.action).toBe("run.decision-refused");
    },
  );

  test("without token confirmation, tokens made by the launcher or by a token of theirs don't count", async ({
    scene,
  }) => {
    const { store } = scene.gateway;
    const known = await getRun(store.db, scene.run.runId);
    if (known === undefined) throw new Error("no run");
    const clock = await createBusinessClocks().read(profile());
    const make = async (name: string, createdBy: string, roles: readonly string[]) => {
      const made = await createToken(store, { name, roles, createdBy, nowMs: Date.now() });
      return { tokenId: made.tokenId, name, roles };
    };
    const first = await make("new", "lou", ["owner"]);
    await make("middle", "lou", ["admin"]);
    for (const principal of [first, await make("straw", "middle", ["owner"])]) {
      const request = { decision: "approve", planHash: scene.run.planHash, drop: [] } as const;
      const deciding = { run: known, request, principal, clock, nowMs: Date.now() };
      const verdict = await store.transaction((trx) => takeAnyDecision(trx, deciding));
      expect(verdict).toMatchObject({ accepted: false, code: "launchers_token" });
    }
  });

  test("a decision by a token that nobody has confirmed is refused", async ({ scene }) => {
    const token = { name: "bob", roles: ["owner"], createdBy: "eve", nowMs: Date.now() };
    const answer = await scene.decide((await createToken(scene.gateway.store, token)).token);
    expect(answer.status).toBe(401);
    expect(answer.json["message"]).toContain("payrun token confirm tok_");
  });

  test("a decision on an old plan is refused", async ({ scene }) => {
    const token = await scene.gateway.token("cora", ["controller"]);
    const answer = await scene.decide(token, { planHash: "plan-of-yesterday" });
    expect(answer.status).toBe(409);
    expect(answer.json["error"]).toBe("stale_plan");
    expect(await scene.approved("p1")).toBe(false);
  });

  test("a decision that drops a bill which is not in the plan is refused", async ({ scene }) => {
    const token = await scene.gateway.token("cora", ["controller"]);
    const answer = await scene.decide(token, { drop: ["p1", "stranger"] });
    expect(answer.status).toBe(422);
    expect(answer.json["message"]).toContain("stranger");
    expect(await lineState(scene.gateway.store, scene.run.runId, "p1")).toBe("awaiting-approval");
  });

  test("a decision may drop a bill that a lane has, without a request that may pay it: its state stays, and the gate stops it", async ({
    scene,
  }) => {
    await setLine(scene.gateway.store, scene.run.runId, "p1", { state: "paying" });
    const token = await scene.gateway.token("cora", ["controller"]);
    const answer = await scene.decide(token, { drop: ["p1"] });
    expect(answer.status).toBe(200);
    expect(await lineState(scene.gateway.store, scene.run.runId, "p1")).toBe("paying");
  });

  test("a decision on a run that is being cancelled is refused", async ({ scene }) => {
    await scene.gateway.store.transaction((trx) =>
      requestCancel(trx, scene.run.runId, "oli", Date.now()),
    );
    const answer = await scene.decide(await scene.gateway.token("cora", ["controller"]));
    expect(answer.status).toBe(409);
  });

  test("a decision on an unknown run is refused", async ({ scene }) => {
    const token = await scene.gateway.token("cora", ["controller"]);
    const answer = await scene.gateway.call("POST", "/v1/runs/pay-run%2Fx/decisions", token, {
      decision: "approve",
      planHash: "x",
    });
    expect(answer.status).toBe(404);
  });
});
