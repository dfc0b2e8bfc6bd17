import { expect } from "vitest";
import { test } from "../money-world.ts";

test("without a stored playbook the account is paused once three vendors have bounced on one day, also where the first are paid again already", async ({
  world,
}) => {
  const vendors = ["v1", "v2", "v3"].map((id) => {
    return { id, displayName: id, bankAccount: { last4: "1111" } };
  });
  await world.world.reset({ contacts: vendors });
  const planned = await world.approvedRun(vendors.map(({ id }) => ({ contactId: id })));
  const { runId, payableIds } = planned;
  for (const payableId of payableIds) {
    await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R01", times: 1 });
  }
  await world.pay(runId);
  await world.control.advance("P9D");
  await world.follow(runId);
  const [first = "", second = "", third = ""] = payableIds;
  for (const payableId of [first, second]) {
    await world.look(payableId);
    expect((await world.payAgain(payableId)).phase).toBe("following");
  }
  expect(await world.holds()).toEqual([]);
  expect(await world.look(third)).toMatchObject({
    phase: "waiting",
    waitingFor: expect.stringMatching(/one decision/),
  });
  const { sourceId } = await world.line(runId, third);
  expect(await world.holds()).toMatchObject([{ scope: "source", value: sourceId }]);
});
