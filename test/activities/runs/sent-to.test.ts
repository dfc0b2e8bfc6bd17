import { expect } from "vitest";
import { getPlanLine } from "../../../src/store/lines/plan-lines.ts";
import { lastPaidTo, sentTo } from "../../../src/store/plans/plan-history.ts";
import { test } from "../money-world.ts";

test("the account that a returned payment went to is known, even if no payment ever settled", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R02" });
  await world.pay(runId);
  await world.control.advance("P9D");
  await world.follow(runId);
  expect((await world.look(payableId)).phase).toBe("parked");
  const { db } = world.store;
  const { bankLast4, contactId = "" } = (await getPlanLine(db, runId, payableId)) ?? {};
  expect(await lastPaidTo(db, world.businessId, [contactId])).toEqual(new Map());
  expect(await sentTo(db, world.businessId, [payableId, "never-sent"])).toEqual(
    new Map([[payableId, bankLast4]]),
  );
});
