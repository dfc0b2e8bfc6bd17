import { expect } from "vitest";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { createHold } from "../../../src/store/holds/holds.ts";
import { type MoneyWorld, type PlannedBills, test } from "../money-world.ts";

/** Pays one bill of each of three vendors on one day; all of them bounce. */
async function threeBounces(world: MoneyWorld): Promise<PlannedBills> {
  const vendors = ["v1", "v2", "v3"].map((id) => {
    return { id, displayName: id, bankAccount: { last4: "1111" } };
  });
  await world.world.reset({ contacts: vendors });
  const planned = await world.approvedRun(vendors.map(({ id }) => ({ contactId: id })));
  for (const payableId of planned.payableIds) {
    await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R01", times: 1 });
  }
  await world.pay(planned.runId);
  await world.control.advance("P9D");
  await world.follow(planned.runId);
  return planned;
}

async function paidAgain(world: MoneyWorld, payableId: string): Promise<void> {
  await world.look(payableId);
  expect((await world.payAgain(payableId)).phase).toBe("following");
}

test("without a stored playbook, three vendors that bounce on one day pause the account", async ({
  world,
}) => {
  const { runId, payableIds } = await threeBounces(world);
  const [first = "", second = "", third = ""] = payableIds;
  await paidAgain(world, first);
  const onHold = { scope: "contact", value: "v2", reason: "a call", author: "olga" } as const;
  const { businessId } = world;
  await world.store.transaction((trx) =>
    createHold(trx, { ...onHold, businessId, nowMs: Date.now() }),
  );
  await world.look(second);
  await world.look(second);
  expect(await world.line(runId, second)).toMatchObject({ reasonCode: "on_hold" });
  expect(await world.look(third)).toMatchObject({
    phase: "waiting",
    waitingFor: expect.stringMatching(/one decision/),
  });
  const { sourceId } = await world.line(runId, third);
  expect(await world.holds()).toContainEqual(
    expect.objectContaining({ scope: "source", value: sourceId }),
  );
});

test("without a stored playbook, bounces of another day that are paid again today pause nothing", async ({
  world,
}) => {
  const { runId, payableIds } = await threeBounces(world);
  const [first = "", second = "", third = ""] = payableIds;
  await paidAgain(world, first);
  await paidAgain(world, second);
  const { executionDate } = await world.line(runId, first);
  await changeLine(world.store.db, { runId, payableId: third }, { executionDate }, Date.now());
  expect((await world.look(third)).waitingFor).not.toMatch(/one decision/);
  expect(await world.holds()).toEqual([]);
});
