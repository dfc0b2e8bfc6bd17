import { expect } from "vitest";
import { getPlanLine } from "../../../src/store/lines/plan-lines.ts";
import { knownAccounts, lastSent } from "../../../src/store/plans/plan-history.ts";
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
  expect(await knownAccounts(db, world.businessId, [contactId], () => true)).toEqual(new Map());
  expect(await lastSent(db, world.businessId, [payableId, "never-sent"])).toEqual(
    new Map([[payableId, { bankLast4, totalCents: 10_000 }]]),
  );
});

test("a bill that was paid and has grown since is flagged until the new total was approved and paid; one that is paid in parts is not", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  const half = await world.enter();
  const parts = await world.planAgain([half], 4_000);
  await world.approve(parts.runId);
  for (const id of [runId, parts.runId]) await world.pay(id);
  await world.control.advance("P9D");
  for (const id of [runId, parts.runId]) await world.follow(id);
  const { db } = world.store;
  await db.deleteFrom("claims").execute();
  const flagsOf = async (run: string, id: string) => (await getPlanLine(db, run, id))?.flags;
  const review = ["likely-duplicate"] as const;

  await world.control.changePayable(payableId, { totalAmountCents: 12_000 });
  const again = await world.planAgain([payableId], 2_000, { review });
  const grown = (await flagsOf(again.runId, payableId))?.find(
    ({ kind }) => kind === "likely-duplicate",
  );
  expect(grown?.text).toMatch(
    /^This bill was paid before: \$100\.00, settled on .*, approved when its total was \$100\.00\. The total has grown by \$20\.00 since, to \$120\.00\./,
  );
  const rest = await world.planAgain([half], 3_000, { review });
  expect(await flagsOf(rest.runId, half)).toMatchObject([{ kind: "late" }, { kind: "partial" }]);

  await world.approve(again.runId);
  await world.pay(again.runId);
  expect(await lastSent(db, world.businessId, [payableId])).toMatchObject(
    new Map([[payableId, { totalCents: 12_000 }]]),
  );
});
