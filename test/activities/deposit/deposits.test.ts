import { describe, expect } from "vitest";
import { reserveMoney } from "../../../activities/runs/reserve-money.ts";
import { readTransactions } from "../../../activities/deposit/read-transactions.ts";
import { getIncident, revokedAuthorizations } from "../../../src/store/incidents/incidents.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { dryPlan } from "../../support/dry-plan.ts";
import { getDryPlanPage } from "../../../src/store/plans/dry-plans.ts";
import { getPlan } from "../../../src/store/plans/plans.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { topUpsOf } from "../../../src/store/deposits/deposits.ts";
import { DEPOSITS, test, withTopUp } from "../deposit-scene.ts";

describe("a run that is short of money", () => {
  test("a run asks for exactly what is missing, says so in its plan, and deposits nothing unapproved", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    const plan = await getPlan(world.store.db, planned.runId);
    expect(plan?.summary.topUp).toMatchObject({
      amountCents: 10_000,
      approvers: ["owner"],
      quorum: 1,
    });
    const asked = await scene.topUp(planned);
    expect(asked).toMatchObject({ state: "proposed", amountCents: 10_000, owner: planned.runId });
    const notices = await listNotices(world.store.db, { kind: "top-up-needed", limit: 5 });
    expect(notices[0]).toMatchObject({ roles: ["owner"], data: { hash: asked.hash } });
    expect((await world.assess(planned.runId)).toDeposit).toBeUndefined();
    await scene.step(planned);
    expect(await scene.attempts(planned)).toEqual([]);
    await world.control.advance("PT1M");
    expect(await scene.deposits()).toEqual([]);
  });

  test("an approved deposit is made once, and pays the bills that waited for it", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    await world.pay(planned.runId);
    expect(await scene.decide(planned)).toMatchObject({ accepted: true });
    expect((await world.assess(planned.runId)).toDeposit).toBe(true);
    await scene.step(planned);
    expect(await scene.topUp(planned)).toMatchObject({ state: "on-its-way" });
    await scene.step(planned);
    await world.control.advance("P4D");
    await scene.step(planned);
    expect(await scene.topUp(planned)).toMatchObject({ state: "completed" });
    expect(await scene.deposits()).toEqual([
      { amountCents: 10_000, kind: "debit" },
      { amountCents: 10_000, kind: "credit" },
    ]);
    await world.pay(planned.runId);
    expect(await topUpsOf(world.store.db, planned.runId)).toHaveLength(1);
    await world.follow(planned.runId);
    await world.pay(planned.runId);
    for (const payableId of planned.payableIds) {
      expect(await world.paymentsOf(payableId)).toHaveLength(1);
    }
    expect(await topUpsOf(world.store.db, planned.runId)).toHaveLength(1);
  });

  test("a deposit is not asked for anew if payments have left on a day that this process doesn't know yet", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    await world.pay(planned.runId);
    const asked = await scene.topUp(planned);
    const context = world.context();
    await context.clockOf("acme").now();
    await world.control.advance("P14D");
    await reserveMoney(context, planned.runId);
    expect(await scene.topUp(planned)).toEqual(asked);
  });

  test("a dry plan proposes no deposit if one is already on its way", async ({ scene, world }) => {
    const planned = await scene.shortRun();
    const run = await getRun(world.store.db, planned.runId);
    if (run === undefined) throw new Error("no run");
    const { business, playbook, period, policy } = run;
    const dry = async (dryPlanId: string) => {
      const unstored = { policy, revision: 1 };
      await dryPlan(world.context(), { business, playbook, period, dryPlanId, unstored });
      return getDryPlanPage(world.store.db, dryPlanId, { page: 1, pageSize: 10 });
    };
    expect((await dry("plan_before"))?.topUp).toMatchObject({ amountCents: 10_000 });
    await scene.decide(planned);
    await scene.untilMade(planned);
    const after = await dry("plan_after");
    expect(after?.lines).toHaveLength(2);
    expect(after).not.toHaveProperty("topUp");
  });

  test("a bill's reason says whether its deposit is proposed, approved or on its way", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    const reasons = async () => {
      await world.pay(planned.runId);
      const lines = planned.payableIds.map((id) => world.line(planned.runId, id));
      return (await Promise.all(lines)).flatMap(({ reason }) => reason ?? []);
    };
    expect((await reasons()).at(-1)).toMatch(/ A deposit is asked for\.$/);
    await scene.decide(planned);
    expect((await reasons()).at(-1)).toMatch(/ A deposit is approved\.$/);
    const { arrivesOn } = await scene.untilMade(planned);
    expect((await reasons()).at(-1)).toMatch(
      new RegExp(` A deposit is on its way, to be there on ${arrivesOn}\\.$`),
    );
  });

  test("a deposit that bounced causes a notice and a new proposal", async ({ scene, world }) => {
    const planned = await scene.shortRun();
    await world.control.outcome({
      match: { bankAccountId: "bank_main" },
      outcome: "fail",
      code: "R01",
      times: 1,
    });
    await scene.decide(planned);
    await scene.step(planned);
    await world.control.advance("P4D");
    await scene.step(planned);
    expect(await scene.topUp(planned)).toMatchObject({
      state: "failed",
      reason: expect.stringMatching(/R01/),
    });
    const notices = await listNotices(world.store.db, { kind: "top-up-failed", limit: 5 });
    expect(notices[0]).toMatchObject({ data: { id: planned.runId } });
    await world.follow(planned.runId);
    await world.pay(planned.runId);
    const again = await scene.topUp(planned);
    expect(again).toMatchObject({ state: "proposed", requestNo: 2, amountCents: 10_000 });
    await scene.step(planned);
    expect(await scene.topUp(planned)).toEqual(again);
  });
  test("a deposit that our own bank account refused holds that account, as one incident", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    const match = { bankAccountId: "bank_main" };
    await world.control.outcome({ match, outcome: "fail", code: "R10", times: 1 });
    await scene.decide(planned);
    await scene.step(planned);
    await world.control.advance("P4D");
    await scene.step(planned);
    expect((await scene.topUp(planned)).state).toBe("failed");
    expect(await world.holds()).toMatchObject([{ scope: "source", value: "bank_main" }]);
    const { db } = world.store;
    const { businessId } = world;
    expect(await getIncident(db, businessId, "bank_main")).toMatchObject({
      phase: "open",
      code: "R10",
      roles: ["owner"],
    });
    expect(await revokedAuthorizations(db, businessId, ["bank_main"])).toHaveProperty("size", 1);
  });
});

test("a deposit made by hand is read with its creation time, by which a restored store judges it", async ({
  scene,
}) => {
  const { world } = scene;
  const body = { amountCents: 10_000, bankAccountId: "bank_main" };
  await world.world.sandbox.api("POST", DEPOSITS, { key: "by-hand-2", body });
  const clock = await world.context().clockOf("acme").now();
  const client = world.context().clientOf("acme");
  const topUp = { amountCents: 10_000, account: { bankAccountId: "bank_main" } };
  const { shown } = await readTransactions(client, world.store.db, clock, topUp);
  const [transaction] = await client.balance.transactions.listAll();
  expect(shown).toMatchObject([{ createdAtMs: Date.parse(transaction?.createdAt ?? "") }]);
});

test("a deposit that is overdue is reported as late, and people are notified once", async ({
  scene,
  world,
}) => {
  const planned = await scene.shortRun();
  await scene.decide(planned);
  const { subject } = await scene.untilMade(planned);
  expect((await world.assess(planned.runId)).waitingFor).toMatch(/on its way$/);
  await world.store.db
    .updateTable("top_ups")
    .set({ arrives_on: "2026-01-02" })
    .where("subject", "=", subject)
    .execute();
  const now = await world.assess(planned.runId);
  expect(now).toMatchObject({ needsAction: true });
  expect(now.waitingFor).toMatch(/was to be there on 2026-01-02: ask the service/);
  await scene.step(planned);
  await scene.step(planned);
  expect(await scene.told(planned)).toMatchObject([
    {
      roles: ["operator"],
      subject: expect.stringMatching(/^A deposit of \$100\.00 .* was due on 2026-01-02/),
    },
  ]);
});

test("a deposit that stays unanswered for an hour causes one notice", async ({ scene, world }) => {
  const planned = await scene.shortRun();
  await scene.decide(planned);
  const silence = { kind: "no-answer", sent: true, code: "no_answer", reason: "silence" } as const;
  world.override = { sendMoneyWrite: () => Promise.resolve(silence) };
  for (let minutes = 0; minutes < 90; minutes += 3) {
    await scene.step(planned);
    await world.world.pass(3 * 60_000);
  }
  expect(await scene.told(planned)).toMatchObject([{ roles: ["operator"] }]);
});

test("a deposit that can't be made for an hour backs off, and people are notified once", async ({
  scene,
  world,
}) => {
  const planned = await scene.shortRun();
  await scene.decide(planned);
  await world.control.faults([
    { method: "GET", path: "/v1/funding-sources", when: "before", effect: "status", status: 403 },
  ]);
  await scene.step(planned);
  const first = await scene.topUp(planned);
  expect(first.reason).toMatch(/^The balance can't be read/);
  await world.world.pass(30 * 60_000);
  await scene.step(planned);
  expect(await scene.topUp(planned)).toMatchObject({ backOffSinceMs: first.backOffSinceMs });
  expect(await scene.told(planned)).toEqual([]);
  await world.world.pass(31 * 60_000);
  await scene.step(planned);
  await scene.step(planned);
  expect(await scene.told(planned)).toMatchObject([
    { roles: ["operator"], text: expect.stringMatching(/^It waits: The balance can't be read/) },
  ]);
  await world.control.faults();
  expect(await scene.untilMade(planned)).toMatchObject({
    state: "on-its-way",
    backOffSinceMs: null,
  });
});

test("two runs that are short of one balance deposit only what both need together", async ({
  scene,
  world,
}) => {
  const one = await scene.shortRun();
  await scene.decide(one);
  await scene.untilMade(one);
  const other = await world.approvedRun([{}, {}, {}], withTopUp());
  // $100 are there, $100 are on their way, $500 are needed.
  expect(await scene.topUp(other)).toMatchObject({ amountCents: 30_000 });
});
