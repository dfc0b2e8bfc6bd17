import { describe, expect } from "vitest";
import { definedOnly } from "../../../src/contracts/defined-only.ts";
import type { ApprovalRule, PayLimits, SumPer } from "../../../src/contracts/playbook.ts";
import { getPlanLines } from "../../../src/store/lines/plan-lines.ts";
import { type MoneyWorld, type PlannedBills, test } from "../money-world.ts";

const NO_LIMITS: PayLimits = {
  billCents: null,
  vendorPerWeekCents: null,
  businessPerWeekCents: null,
};

const rule = (overCents: number | null, by: string, overPer?: SumPer): ApprovalRule => ({
  ...{ review: false, overCents, where: null, by: [by], quorum: 1 },
  ...definedOnly({ overPer }),
});

/** Who has to approve the first line of a run's plan as it is now. */
async function askedOf(world: MoneyWorld, runId: string): Promise<readonly string[]> {
  const [line] = await getPlanLines(world.store.db, runId);
  return line?.plan.approvers ?? [];
}

/** Plans another part of a bill whose earlier run has let it go. */
async function partAgain(
  world: MoneyWorld,
  ...asked: Parameters<MoneyWorld["planAgain"]>
): Promise<PlannedBills> {
  await world.store.db.deleteFrom("claims").execute();
  return world.planAgain(...asked);
}

describe("a part of a bill", () => {
  const approve = [rule(250_00, "chair"), rule(null, "owner")];

  test("a part needs the approval that its whole bill would need", async ({ world }) => {
    const bill = { totalAmountCents: 720_00 };
    const { runId, payableIds } = await world.plannedRun([bill], { approve }, 240_00);
    expect(await askedOf(world, runId)).toEqual(["chair"]);
    const limits = { ...NO_LIMITS, billCents: 500_00 };
    const limited = await partAgain(world, payableIds, 240_00, { approve, limits });
    expect(await world.line(limited.runId, limited.payableId)).toMatchObject({
      state: "parked",
      reasonCode: "over_bill_limit",
      reason: "The whole bill, $720.00, is above the playbook's limit of $500.00 for one bill.",
    });
  });

  test("a part whose bill grows into another rule after its approval asks for that rule's", async ({
    world,
  }) => {
    const { control } = world;
    const part = await world.plannedRun([{ totalAmountCents: 240_00 }], { approve }, 80_00);
    await world.approve(part.runId);
    await control.changePayable(part.payableId, { totalAmountCents: 250_00 });
    await world.pay(part.runId);
    // Under the same rule, what was approved is paid all the same.
    await world.pay(part.runId);
    expect(await world.paymentsOf(part.payableId)).toHaveLength(1);

    const second = await partAgain(world, part.payableIds, 80_00, { approve });
    await world.approve(second.runId);
    await control.changePayable(part.payableId, { totalAmountCents: 720_00 });
    await world.pay(second.runId);
    expect(await world.line(second.runId, part.payableId)).toMatchObject({
      state: "awaiting-approval",
      reason: "Back to approval: the whole bill grew from $250.00 to $720.00.",
    });
    expect(await askedOf(world, second.runId)).toEqual(["chair"]);
    await world.pay(second.runId);
    expect(await world.paymentsOf(part.payableId)).toHaveLength(1);
  });
});

describe("limits of the business", () => {
  test("a limit of the business parks what its playbook would let through, however late it was set", async ({
    world,
  }) => {
    const [first, second, third] = [
      await world.approvedRun([{ totalAmountCents: 100_00 }], { limits: NO_LIMITS }),
      await world.approvedRun([{ totalAmountCents: 90_00 }]),
      await world.approvedRun([{ totalAmountCents: 60_00 }]),
    ];
    world.limits = { ...NO_LIMITS, billCents: 90_00, vendorPerWeekCents: 100_00 };
    for (const { runId } of [first, second, third]) await world.pay(runId);
    const ends = [first, second, third].map(async ({ runId, payableId }) => {
      const { state, reasonCode } = await world.line(runId, payableId);
      return [state, reasonCode];
    });
    expect(await Promise.all(ends)).toEqual([
      ["parked", "over_bill_limit"],
      ["scheduled", null],
      ["parked", "over_vendor_week_limit"],
    ]);
    const planned = await world.plannedRun([{ totalAmountCents: 100_00 }]);
    expect((await world.line(planned.runId, planned.payableId)).reasonCode).toBe("over_bill_limit");
  });
});

describe("what a vendor is paid together", () => {
  const approve = [rule(150_00, "chair", "vendor-week"), rule(null, "owner")];

  test("of two runs that pass an amount together, the second asks for the approval above it", async ({
    world,
  }) => {
    const bill = { totalAmountCents: 90_00 };
    const [one, other] = [
      await world.approvedRun([bill], { approve }),
      await world.approvedRun([bill], { approve }),
    ];
    await Promise.all([one, other].map(({ runId }) => world.pay(runId)));
    const lines = await Promise.all(
      [one, other].map(({ runId, payableId }) => world.line(runId, payableId)),
    );
    expect(lines.map(({ state }) => state).toSorted()).toEqual(["awaiting-approval", "scheduled"]);
    const asking = lines.find(({ state }) => state === "awaiting-approval");
    expect(asking?.reason).toBe(
      "Back to approval: with it, its vendor is paid $180.00 in this week, and more than $150.00 needs another approval.",
    );
    const runId = asking?.runId ?? "";
    expect(await askedOf(world, runId)).toEqual(["chair"]);
    // The owner's approval was of another line.
    await world.pay(runId);
    expect(await world.paymentsOf(asking?.payableId ?? "")).toEqual([]);
    await world.approve(runId);
    await world.pay(runId);
    expect(await world.paymentsOf(asking?.payableId ?? "")).toHaveLength(1);
  });

  test("parts of one bill count as that bill, whatever other parts the week has", async ({
    world,
  }) => {
    const bill = { totalAmountCents: 140_00 };
    const first = await world.plannedRun([bill], { approve }, 70_00);
    await world.approve(first.runId);
    await world.pay(first.runId);
    const second = await partAgain(world, first.payableIds, 70_00, { approve });
    expect(await askedOf(world, second.runId)).toEqual(["owner"]);
    await world.approve(second.runId);
    await world.pay(second.runId);
    expect(await world.paymentsOf(first.payableId)).toHaveLength(2);
    const third = await world.plannedRun([{ totalAmountCents: 20_00 }], { approve });
    expect(await askedOf(world, third.runId)).toEqual(["chair"]);
  });

  test("a bill that changes after the plan still counts with its vendor's others in the run", async ({
    world,
  }) => {
    const policy = { approve: [rule(150_00, "chair", "vendor"), rule(null, "owner")] };
    const bills = [{ totalAmountCents: 90_00 }, { totalAmountCents: 90_00 }];
    const { runId, payableId } = await world.approvedRun(bills, policy);
    expect(await askedOf(world, runId)).toEqual(["chair"]);
    await world.control.changePayable(payableId, { totalAmountCents: 80_00 });
    await world.pay(runId);
    const lines = await getPlanLines(world.store.db, runId);
    const changed = lines.find(({ plan }) => plan.payableId === payableId);
    expect(changed?.plan.approvers).toEqual(["chair"]);
    const states = lines.map(({ line }) => line.state).toSorted();
    expect(states).toEqual(["awaiting-approval", "scheduled"]);
  });
});
