import { expect } from "vitest";
import { createHold } from "../../../src/store/holds/holds.ts";
import { test } from "../money-world.ts";

test("without a stored playbook the account is paused once three vendors have bounced on one day, also where the first is paid again already and another is on hold", async ({
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
  await world.look(first);
  expect((await world.payAgain(first)).phase).toBe("following");
  const { businessId } = world;
  const onHold = { businessId, value: "v2", reason: "a call", author: "olga" };
  await world.store.transaction((trx) =>
    createHold(trx, { ...onHold, scope: "contact", nowMs: Date.now() }),
  );
  await world.look(second);
  await world.look(second);
  expect(await world.line(runId, second)).toMatchObject({ reasonCode: "on-hold" });
  expect(await world.look(third)).toMatchObject({
    phase: "waiting",
    waitingFor: expect.stringMatching(/one decision/),
  });
  const { sourceId } = await world.line(runId, third);
  expect(await world.holds()).toContainEqual(
    expect.objectContaining({ scope: "source", value: sourceId }),
  );
});
