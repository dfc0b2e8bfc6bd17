import { describe, expect } from "vitest";
import type { PayRunPlaybook } from "../../../src/contracts/playbook.ts";
import { retryFailedPaymentId } from "../../../src/contracts/workflow-kinds.ts";
import { claimOwners } from "../../../src/store/payables/claims.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { paidHere } from "../../../src/store/payables/external-payments.ts";
import { subscribersOf } from "../../../src/store/payables/subscriptions.ts";
import { test } from "../bounce-scene.ts";
import type { MoneyWorld, PlannedBills } from "../money-world.ts";

/** Settles a run's payments and lets the run end. */
async function settle(world: MoneyWorld, { runId, payableIds }: PlannedBills): Promise<void> {
  await world.approve(runId);
  await world.pay(runId);
  await world.control.advance("P9D");
  await world.follow(runId);
  expect((await world.assess(runId)).phase).toBe("completed");
  for (const payableId of payableIds) {
    expect((await world.line(runId, payableId)).state).toBe("settled");
  }
}

async function settledRun(
  world: MoneyWorld,
  policy: Partial<PayRunPlaybook> = {},
): Promise<PlannedBills> {
  const planned = await world.plannedRun([{}], policy);
  await settle(world, planned);
  return planned;
}

/** Makes the bank return a settled payment. */
async function comesBack(
  world: MoneyWorld,
  paymentId: string | undefined,
  code: string,
): Promise<void> {
  const match = { paymentId: paymentId ?? "" };
  await world.control.outcome({ match, outcome: "return", code });
}

async function parkedNotices(world: MoneyWorld) {
  return listNotices(world.store.db, { kind: "parked", limit: 10 });
}

describe("a settled payment that is returned after its run has ended", () => {
  test("a return after the end of a run causes one notice to the deciding roles, and parks the line", async ({
    world,
  }) => {
    const { runId, payableId } = await settledRun(world);
    await world.control.advance("P60D");
    const [payment] = await world.paymentsOf(payableId);
    await comesBack(world, payment?.id, "R03");
    expect((await world.look(payableId)).phase).toBe("parked");
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reasonCode: "R03",
    });
    expect((await world.look(payableId)).phase).toBe("parked");
    expect(await parkedNotices(world)).toMatchObject([
      { roles: ["controller", "operator"], runId, data: { payableIds: [payableId] } },
    ]);
    const owners = await claimOwners(world.store.db, world.businessId, [payableId]);
    expect(owners.get(payableId)).toBe(retryFailedPaymentId("acme", payableId));
  });

  test("returns are watched for until 60 days after the payment, a late approval or retry included", async ({
    world,
  }) => {
    const planned = await world.plannedRun([{}]);
    const { payableId } = planned;
    const mayReturnUntilMs = async (): Promise<number> => {
      const [watch] = await subscribersOf(world.store.db, world.businessId, [payableId]);
      return watch?.untilMs ?? 0;
    };
    const daysFromNow = async (): Promise<number> => {
      const { businessMs } = await world.context().clockOf("acme").now();
      return ((await mayReturnUntilMs()) - businessMs) / 86_400_000;
    };
    // A plan can be approved for 30 days, and its last payment may be made then.
    expect(await daysFromNow()).toBeGreaterThan(30 + 60);
    await world.failurePlaybook("kind: retry-failed\nrules: [{ match: [R01], retry: monday }]\n");
    await settle(world, planned);
    await world.control.advance("P70D");
    const [payment] = await world.paymentsOf(payableId);
    await comesBack(world, payment?.id, "R01");
    await world.look(payableId);
    await world.control.advance("P10D");
    await world.approve(planned.runId);
    // Its request is made the banking day before a Monday, or before the Tuesday after a holiday.
    const phases = [(await world.look(payableId)).phase];
    while (phases.at(-1) === "waiting" && phases.length <= 8) {
      await world.control.advance("P1D");
      phases.push((await world.look(payableId)).phase);
    }
    expect(phases.at(-1)).toBe("pay");
    await world.retry(payableId);
    expect((await world.look(payableId)).phase).toBe("following");
    expect(await daysFromNow()).toBeGreaterThan(60);
  });

  test("a return is handled at once even if its run still holds the claim because of a lost answer", async ({
    world,
  }) => {
    const planned = await world.approvedRun([{}]);
    const { runId, payableId } = planned;
    const drop = { method: "POST", path: "/v1/payments", when: "after", effect: "drop" } as const;
    await world.control.faults([drop]);
    await world.pay(runId);
    await world.control.faults();
    await settle(world, planned);
    const owners = await claimOwners(world.store.db, world.businessId, [payableId]);
    expect(owners.get(payableId)).toBe(runId);
    const [payment] = await world.paymentsOf(payableId);
    await comesBack(world, payment?.id, "R03");
    expect((await world.look(payableId)).phase).toBe("parked");
    expect((await world.line(runId, payableId)).state).toBe("parked");
  });

  test("a return is handled if a restored store knows the payment but not how it was sent", async ({
    world,
  }) => {
    const { runId, payableId } = await settledRun(world);
    const { db } = world.store;
    await db.updateTable("run_lines").set({ attempts: 0 }).where("run_id", "=", runId).execute();
    expect(await paidHere(db, world.businessId, [payableId])).toEqual(new Set([payableId]));
    const [payment] = await world.paymentsOf(payableId);
    await comesBack(world, payment?.id, "R03");
    expect((await world.look(payableId)).phase).toBe("parked");
    expect((await world.line(runId, payableId)).reasonCode).toBe("R03");
  });

  test("a return causes no notice if the playbook wants none of its runs", async ({ world }) => {
    const { payableId } = await settledRun(world, { notify: { people: "none", digest: "none" } });
    const [payment] = await world.paymentsOf(payableId);
    await comesBack(world, payment?.id, "R03");
    await world.look(payableId);
    expect(await parkedNotices(world)).toEqual([]);
  });
});

describe("a bill that two runs have paid in parts", () => {
  /** The first run pays $40 of $100, the second one the rest. */
  async function paidInParts(world: MoneyWorld): Promise<readonly [PlannedBills, PlannedBills]> {
    const first = await world.plannedRun([{}], {}, 4_000);
    await settle(world, first);
    const second = await world.planAgain([first.payableId], 6_000);
    await settle(world, second);
    return [first, second];
  }

  test("the return of a part opens that part's line, even if it is the older one", async ({
    world,
  }) => {
    const [first, second] = await paidInParts(world);
    const { payableId } = first;
    const { paymentIds } = await world.line(first.runId, payableId);
    await comesBack(world, paymentIds[0], "R23");
    expect((await world.look(payableId)).phase).toBe("parked");
    expect(await world.line(first.runId, payableId)).toMatchObject({
      state: "parked",
      reasonCode: "R23",
    });
    expect((await world.line(second.runId, payableId)).state).toBe("settled");
  });

  test("a part that is returned while another part's return is handled is parked for the next run", async ({
    world,
  }) => {
    const [first, second] = await paidInParts(world);
    const { payableId } = first;
    const parts = await Promise.all(
      [first, second].map(({ runId }) => world.line(runId, payableId)),
    );
    await comesBack(world, parts[1]?.paymentIds[0], "R23");
    expect((await world.look(payableId)).phase).toBe("parked");
    await comesBack(world, parts[0]?.paymentIds[0], "R29");
    expect((await world.look(payableId)).phase).toBe("parked");
    expect(await world.line(second.runId, payableId)).toMatchObject({ reasonCode: "R23" });
    expect(await world.line(first.runId, payableId)).toMatchObject({
      state: "parked",
      reasonCode: "R29",
      reason: expect.stringMatching(/came back .* next run/),
    });
    const told = (await parkedNotices(world)).map(({ runId }) => runId);
    expect(new Set(told)).toEqual(new Set([first.runId, second.runId]));
    expect(told).toHaveLength(2);
  });

  test("the retries of each run's payment are counted separately", async ({ world }) => {
    const [first, second] = await paidInParts(world);
    const { payableId } = first;
    const parts = await Promise.all(
      [first, second].map(({ runId }) => world.line(runId, payableId)),
    );
    await world.failurePlaybook(
      "kind: retry-failed\nrules:\n  - { match: [R01], retry: next-business-day, atMost: 1 }\n",
    );
    for (const [index, part] of parts.entries()) {
      await comesBack(world, part.paymentIds[0], "R01");
      expect(await world.look(payableId)).toMatchObject({ phase: "waiting" });
      await world.control.advance("P4D");
      expect((await world.look(payableId)).phase).toBe("pay");
      await world.retry(payableId);
      await world.control.advance("P9D");
      expect(await world.look(payableId)).toMatchObject({ phase: "ended", outcome: "settled" });
      expect(await world.paymentsOf(payableId)).toHaveLength(3 + index);
    }
  });
});

test("a look at a settled bill without problems changes nothing", async ({ world }) => {
  const { runId, payableId } = await settledRun(world);
  const before = await world.line(runId, payableId);
  expect(await world.look(payableId)).toMatchObject({ phase: "ended", outcome: "settled" });
  expect(await world.line(runId, payableId)).toEqual(before);
});

test("a later return does not change the end of a run", async ({ world }) => {
  const { runId, payableId } = await settledRun(world);
  const [payment] = await world.paymentsOf(payableId);
  await comesBack(world, payment?.id, "R10");
  await world.look(payableId);
  expect((await getRun(world.store.db, runId))?.phase).toBe("completed");
});
