import { describe, expect } from "vitest";
import { fundingIncidentId } from "../../src/contracts/workflow-kinds.ts";
import type { RunStatus } from "../../src/api/runs.ts";
import { isRejected } from "../../src/store/approvals/decisions.ts";
import { openIncident } from "../../src/store/incidents/incidents.ts";
import { approversOf } from "../support/approvers-of.ts";
import { shortWarning } from "../../src/domain/deposits/terms.ts";
import { changeTopUp, type TopUp } from "../../src/store/deposits/deposits.ts";
import { noticeLoss } from "../support/lost-store.ts";
import { makeSigner, signDecision } from "../support/signing.ts";
import { type Answer, profile, type TestGateway } from "./support/gateway.ts";
import { typed } from "./support/typed.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import { proposedDeposit } from "../support/proposed-deposit.ts";
import { planLine, seedRun, type SeededRun } from "./support/rows.ts";

const erp = makeSigner("erp", ["owner"]);

const { keyId, name, roles, publicKey } = erp;
const test = gatewayTest({
  profiles: [profile({ signers: [{ keyId, name, roles, publicKey }] })],
})
  .extend("run", { auto: true }, ({ gateway }) =>
    seedRun(gateway.store, {
      launchedBy: "lou",
      author: "ada",
      lines: [planLine("p1", { approvers: ["owner"] })],
    }),
  )
  .extend("owner", ({ gateway }) => gateway.token("olga", ["owner"]));

function ask(
  gateway: TestGateway,
  run: SeededRun,
  asker = run.runId,
  changes: { quorum?: number } = {},
): Promise<TopUp> {
  return gateway.store.transaction((trx) =>
    proposedDeposit(trx, {
      businessId: "biz_acme",
      subject: `deposit/balance/${asker}/1`,
      business: "acme",
      sourceId: "balance",
      owner: asker,
      requestNo: 1,
      policyRunId: run.runId,
      amountCents: 150_00,
      neededOn: "2026-11-10",
      makeBy: "2026-11-04",
      arrivesOn: "2026-11-09",
      late: false,
      account: { bankAccountId: "bank_1", name: "First Bank", last4: "1234" },
      planHash: run.planHash,
      hash: "h".repeat(64),
      approvers: ["owner"],
      quorum: 1,
      sinceMs: 0,
      nowMs: Date.now(),
      ...changes,
    }),
  );
}

function decide(
  gateway: TestGateway,
  run: SeededRun,
  token: string,
  body: Record<string, unknown>,
): Promise<Answer> {
  const path = `/v1/runs/${encodeURIComponent(run.runId)}/decisions`;
  return gateway.call("POST", path, token, body);
}

function about(run: SeededRun, { hash }: TopUp, decision = "approve"): Record<string, unknown> {
  return { decision, planHash: run.planHash, topUpHash: hash };
}

async function status(gateway: TestGateway, run: SeededRun, owner: string): Promise<RunStatus> {
  const { json } = await gateway.call("GET", `/v1/runs/${encodeURIComponent(run.runId)}`, owner);
  return json as unknown as RunStatus;
}

describe("a decision about a deposit", () => {
  test("an approval of a deposit counts for exactly that deposit, and for no bill", async ({
    gateway,
    run,
    owner,
  }) => {
    const asked = await ask(gateway, run);
    expect((await decide(gateway, run, owner, about(run, asked))).status).toBe(200);
    expect(await status(gateway, run, owner)).toMatchObject({
      topUps: [{ state: "proposed", amountCents: 150_00, approvedBy: ["olga"] }],
    });
    const ofBills = await approversOf(gateway.store.db, run.runId, ["p1"], 0);
    expect(ofBills.size).toBe(0);
  });

  test("an approval of the bills counts for no deposit", async ({ gateway, run, owner }) => {
    await ask(gateway, run);
    const plan = { decision: "approve", planHash: run.planHash };
    expect((await decide(gateway, run, owner, plan)).status).toBe(200);
    expect(await status(gateway, run, owner)).toMatchObject({ topUps: [{ approvedBy: [] }] });
  });

  test("an approval of a deposit in a restored store says when the deposit is made", async ({
    gateway,
    run,
    owner,
  }) => {
    const asked = await ask(gateway, run);
    await noticeLoss(gateway.store);
    const { json } = await decide(gateway, run, owner, about(run, asked));
    expect(json["summary"]).toMatch(/deposit of \$150\.00 is made after .* New York\.$/);
  });

  test("once a deposit is made, show has no warning of the shortage", async ({
    gateway,
    owner,
  }) => {
    const source = planLine("p2").funding;
    const warnings = [shortWarning(100_00, "no deposit can be proposed: no account."), "Odd."];
    const run = await seedRun(gateway.store, {
      period: "2026-11-27",
      lines: [planLine("p2", { approvers: ["owner"] })],
      summary: { availableCents: 0, source, warnings },
    });
    const asked = await ask(gateway, run);
    const shown = async (state: TopUp["state"]): Promise<string> => {
      await gateway.store.transaction((trx) =>
        changeTopUp(trx, asked, ["proposed", "on-its-way"], { state }, Date.now()),
      );
      return (await typed(gateway, owner, ["show", run.runId])).stdout;
    };
    expect(await shown("on-its-way")).toContain(
      "$0.00 before, $150.00 deposited since and on its way, $50.00 after.",
    );
    const done = await shown("completed");
    expect(done).toContain("$0.00 before, $150.00 deposited since, $50.00 after.");
    expect(done).not.toMatch(/short/);
    expect(done).toContain("Odd.");
  });

  test("a rejection of a deposit refuses it without rejecting the run", async ({
    gateway,
    run,
    owner,
  }) => {
    const asked = await ask(gateway, run);
    expect((await decide(gateway, run, owner, about(run, asked, "reject"))).status).toBe(200);
    expect(await status(gateway, run, owner)).toMatchObject({ topUps: [{ state: "refused" }] });
    expect(await isRejected(gateway.store.db, run.runId)).toBe(false);
  });

  test("one person's approvals of a deposit count once", async ({ gateway, run, owner }) => {
    const asked = await ask(gateway, run, run.runId, { quorum: 2 });
    const again = await gateway.token("Olga ", ["owner"]);
    await decide(gateway, run, owner, about(run, asked));
    expect((await decide(gateway, run, again, about(run, asked))).json).toMatchObject({
      missing: [{ approvals: 1, quorum: 2 }],
    });
  });

  test.for<[string, string, string[], object, number]>([
    ["the launcher's", "lou", ["owner"], {}, 403],
    ["the playbook's author's", "ada", ["owner"], {}, 403],
    ["one without its role", "carla", ["controller"], {}, 403],
    ["one about another amount", "otto", ["owner"], { topUpHash: "x".repeat(64) }, 409],
    ["one that leaves bills out as well", "otto", ["owner"], { drop: ["p1"] }, 400],
  ])(
    "a decision about a deposit is refused if it is %s",
    async ([_, name, roles, changes, code], { gateway, run, owner }) => {
      const asked = await ask(gateway, run);
      const token = await gateway.token(name, roles);
      expect((await decide(gateway, run, token, { ...about(run, asked), ...changes })).status).toBe(
        code,
      );
      expect(await status(gateway, run, owner)).toMatchObject({
        topUps: [{ approvedBy: [], state: "proposed" }],
      });
    },
  );

  test("a decision about a deposit may be signed by another system, once", async ({
    gateway,
    run,
    owner,
  }) => {
    const asked = await ask(gateway, run);
    const claims = { sub: run.runId, planHash: run.planHash, topUpHash: asked.hash };
    const signed = signDecision(erp, claims);
    expect((await decide(gateway, run, owner, { signed })).status).toBe(200);
    expect(await status(gateway, run, owner)).toMatchObject({ topUps: [{ approvedBy: ["erp"] }] });
    expect(await decide(gateway, run, owner, { signed })).toMatchObject({
      status: 200,
      json: { alreadySince: expect.any(String) },
    });
    expect(await status(gateway, run, owner)).toMatchObject({ topUps: [{ approvedBy: ["erp"] }] });
  });
});

describe("a top-up of an account that bounced", () => {
  const incident = fundingIncidentId("acme", "balance");
  const path = "/v1/incidents/balance/decision";

  async function bounced(gateway: TestGateway, roles = ["owner", "controller"]): Promise<void> {
    await gateway.store.transaction((trx) =>
      openIncident(trx, {
        businessId: "biz_acme",
        business: "acme",
        sourceId: "balance",
        workflowId: incident,
        code: "R01",
        reason: "R01",
        roles,
        nowMs: Date.now(),
        failedAtMs: Date.now(),
      }),
    );
  }

  test("a top-up decision is refused with what to do if no deposit is proposed", async ({
    gateway,
    owner,
  }) => {
    await bounced(gateway);
    const said = { decision: "top-up", reason: "short" };
    expect(await gateway.call("POST", path, owner, said)).toMatchObject({
      status: 422,
      json: { error: "no_top_up", message: expect.stringMatching(/by hand, and say “released”/) },
    });
  });

  test("a top-up decision approves exactly the named deposit, by a role of its playbook", async ({
    gateway,
    run,
    owner,
  }) => {
    await bounced(gateway);
    const { hash: topUpHash } = await ask(gateway, run, incident);
    const said = { decision: "top-up", reason: "short" };
    expect(await gateway.call("POST", path, owner, said)).toMatchObject({ status: 422 });
    const controller = await gateway.token("carla", ["controller"]);
    const stranger = await gateway.token("vera", ["viewer"]);
    expect((await gateway.call("POST", path, stranger, said)).status).toBe(403);
    const named = { ...said, topUpHash };
    expect((await gateway.call("POST", path, controller, named)).status).toBe(403);
    const other = { ...said, topUpHash: "x".repeat(64) };
    expect((await gateway.call("POST", path, owner, other)).status).toBe(409);
    expect(await gateway.call("POST", path, owner, named)).toMatchObject({
      status: 200,
      json: { phase: "topping-up", topUps: [{ approvedBy: ["olga"] }] },
    });
  });

  test("a top-up is approved by the deposit's approvers, even if other roles decide about the account", async ({
    gateway,
    run,
    owner,
  }) => {
    await bounced(gateway, ["controller"]);
    const { hash: topUpHash } = await ask(gateway, run, incident);
    const released = { decision: "released", reason: "it is there" };
    expect((await gateway.call("POST", path, owner, released)).status).toBe(403);
    const named = { decision: "top-up", reason: "short", topUpHash };
    expect((await gateway.call("POST", path, owner, named)).status).toBe(200);
    expect(
      await gateway.call("GET", `/v1/runs/${encodeURIComponent(incident)}`, owner),
    ).toMatchObject({
      json: { phase: "topping-up", topUps: [{ state: "proposed", approvedBy: ["olga"] }] },
    });
  });

  test("a second decision about an incident says who has decided it", async ({
    gateway,
    owner,
  }) => {
    await bounced(gateway);
    const said = { decision: "released", reason: "it is there" };
    const answers = await Promise.all([1, 2].map(() => gateway.call("POST", path, owner, said)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    expect(answers.find(({ status }) => status === 409)?.json).toMatchObject({
      message: expect.stringMatching(
        /^The incident of balance has been decided: released by olga, .* New York\. Its hold is lifted\.$/,
      ),
    });
  });

  test("a second top-up decision says who has decided it, and where its deposit is", async ({
    gateway,
    run,
    owner,
  }) => {
    await bounced(gateway);
    const { hash: topUpHash } = await ask(gateway, run, incident);
    const said = { decision: "top-up", reason: "short" };
    expect((await gateway.call("POST", path, owner, { ...said, topUpHash })).status).toBe(200);
    const { db } = gateway.store;
    await db.updateTable("top_ups").set({ state: "on-its-way" }).execute();
    expect(await gateway.call("POST", path, owner, said)).toMatchObject({
      status: 409,
      json: {
        error: "already_decided",
        message: expect.stringMatching(
          /decided: top-up by olga, .*\. The deposit of \$[\d,.]+ is on its way\. Its hold is lifted once the money is there\./,
        ),
      },
    });
    await db.updateTable("top_ups").set({ state: "completed" }).execute();
    await db.updateTable("incidents").set({ phase: "ended" }).execute();
    await db.updateTable("holds").set({ released_at_ms: Date.now() }).execute();
    const { json } = await gateway.call("POST", path, owner, said);
    expect(json["message"]).toMatch(/The deposit of \$[\d,.]+ is there\. Its hold is lifted\.$/);
  });
});
