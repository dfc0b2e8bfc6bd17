import { describe, expect } from "vitest";
import { createHold, releaseHold } from "../../../src/store/holds/holds.ts";
import { openIncident } from "../../../src/store/incidents/incidents.ts";
import { getPlan } from "../../../src/store/plans/plans.ts";
import { requestCancel } from "../../../src/store/runs/runs.ts";
import { topUpsOf } from "../../../src/store/deposits/deposits.ts";
import { test } from "../deposit-scene.ts";

describe("deposits that are not made", () => {
  test.for([
    ["by the run's launcher", { by: "lena" }, "launcher"],
    ["without a role that the playbook names", { roles: ["controller"] }, "role_missing"],
    ["for another amount than was looked at", { hash: "f".repeat(64) }, "stale_plan"],
  ] as const)(
    "an approval given %s is refused and makes no deposit",
    async ([_, who, code], { scene }) => {
      const planned = await scene.shortRun();
      expect(await scene.decide(planned, who)).toMatchObject({ accepted: false, code });
      await scene.step(planned);
      expect(await scene.attempts(planned)).toEqual([]);
    },
  );

  test("a deposit is not made before it has as many approvals as the playbook asks for", async ({
    scene,
  }) => {
    const planned = await scene.shortRun({ quorum: 2 });
    expect(await scene.decide(planned)).toMatchObject({ missing: [{ approvals: 1, quorum: 2 }] });
    await scene.decide(planned);
    await scene.step(planned);
    expect(await scene.attempts(planned)).toEqual([]);
    await scene.decide(planned, { by: "otto" });
    await scene.untilMade(planned);
    await scene.movedOnce();
  });

  test("no deposit is made while a hold stops the run, nor after the run is cancelled", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    await scene.decide(planned);
    const hold = {
      businessId: world.businessId,
      scope: "all",
      value: "",
      reason: "audit",
    } as const;
    await world.store.transaction((trx) =>
      createHold(trx, { ...hold, author: "olga", untilMs: null, nowMs: Date.now() }),
    );
    await scene.step(planned);
    expect(await scene.topUp(planned)).toMatchObject({
      state: "proposed",
      reason: "on hold: audit",
    });
    await world.store.db.deleteFrom("holds").execute();
    await world.store.transaction((trx) => requestCancel(trx, planned.runId, "olga", Date.now()));
    await world.assess(planned.runId);
    expect(await scene.topUp(planned)).toMatchObject({ state: "withdrawn" });
    await scene.step(planned);
    expect(await scene.attempts(planned)).toEqual([]);
  });

  test("no deposit is made from a bank account that is on hold, nor before a revoked authorization is accepted anew", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    await scene.decide(planned);
    const { account } = await scene.topUp(planned);
    const { businessId } = world;
    const { businessMs } = await world.context().clockOf("acme").now();
    const { incident } = await world.store.transaction((trx) =>
      openIncident(trx, {
        ...{
          businessId,
          business: "acme",
          sourceId: account.bankAccountId,
          workflowId: "incident",
        },
        ...{ code: "R10", reason: "R10", roles: ["controller"] },
        ...{ nowMs: Date.now(), failedAtMs: businessMs },
      }),
    );
    const ofDeposit = async () => {
      await world.world.pass(600_000);
      await scene.step(planned);
      return (await scene.topUp(planned)).reason;
    };
    expect(await ofDeposit()).toMatch(/^on hold: Payments from this account bounced/);
    await world.store.transaction((trx) => releaseHold(trx, incident.holdId, "carla", Date.now()));
    expect(await ofDeposit()).toMatch(/came back as not authorized/);
    expect(await scene.attempts(planned)).toEqual([]);
    const acceptedAt = new Date(businessMs + 1_000).toISOString();
    world.achAuthorization = { acceptedBy: "A. Owner", acceptedAt };
    await scene.untilMade(planned);
    await scene.movedOnce();
  });

  test("a run whose playbook only plans makes no deposit, even if it is approved", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    await scene.decide(planned);
    const { db } = world.store;
    const { policy } = await db
      .selectFrom("runs")
      .select("policy")
      .where("run_id", "=", planned.runId)
      .executeTakeFirstOrThrow();
    const stored = JSON.parse(policy) as object;
    await db
      .updateTable("runs")
      .set({ policy: JSON.stringify({ ...stored, schedule: { mode: "plan-only" } }) })
      .where("run_id", "=", planned.runId)
      .execute();
    await scene.step(planned);
    expect(await scene.attempts(planned)).toEqual([]);
    expect(await scene.topUp(planned)).toMatchObject({
      reason: expect.stringContaining("only plans"),
    });
  });

  test("if the missing amount changes after the approval, a new approval is asked for", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    const before = await scene.topUp(planned);
    await scene.decide(planned);
    await world.control.changeBusiness({ balanceCents: 13_000 });
    await scene.step(planned);
    const now = await scene.topUp(planned);
    expect(now).toMatchObject({ state: "proposed", amountCents: 7_000, subject: before.subject });
    expect(now.hash).not.toBe(before.hash);
    await scene.step(planned);
    expect(await scene.attempts(planned)).toEqual([]);
    await world.control.changeBusiness({ balanceCents: 20_000 });
    await scene.decide(planned);
    await scene.step(planned);
    expect(await scene.topUp(planned)).toMatchObject({ state: "withdrawn" });
  });

  test("a deposit that the service refuses fails with the service's reason", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    await scene.decide(planned);
    const body = { error: "validation_error", message: "amountCents is too large" };
    world.override = {
      sendMoneyWrite: () =>
        Promise.resolve({
          kind: "http",
          status: 422,
          body,
          bodyText: JSON.stringify(body),
        } as never),
    };
    await scene.step(planned);
    expect(await scene.topUp(planned)).toMatchObject({
      state: "failed",
      reason: expect.stringMatching(/too large/),
    });
  });

  test("a run whose deposit was rejected makes no deposit", async ({ scene, world }) => {
    const planned = await scene.shortRun();
    expect(await scene.decide(planned, { decision: "reject" })).toMatchObject({ accepted: true });
    await world.pay(planned.runId);
    expect(await topUpsOf(world.store.db, planned.runId)).toMatchObject([{ state: "refused" }]);
  });

  test("no deposit is proposed if more is missing than the playbook allows", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun({ atMostCents: 5_000 });
    expect(await topUpsOf(world.store.db, planned.runId)).toEqual([]);
    const plan = await getPlan(world.store.db, planned.runId);
    expect(plan?.summary.warnings?.[0]).toMatch(/short by \$100\.00.*no deposit above \$50\.00/);
  });

  test("no deposit is proposed if nobody has accepted the ACH debit authorization", async ({
    scene,
    world,
  }) => {
    world.achAuthorization = undefined;
    const planned = await scene.shortRun();
    expect(await topUpsOf(world.store.db, planned.runId)).toEqual([]);
    const plan = await getPlan(world.store.db, planned.runId);
    expect(plan?.summary.warnings?.[0]).toMatch(/ACH debit authorization/);
  });
});
