import { expect } from "vitest";
import { retryFailedPaymentId } from "../../../src/contracts/workflow-kinds.ts";
import { claimOwners } from "../../../src/store/payables/claims.ts";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import { createHold } from "../../../src/store/holds/holds.ts";
import { getPlanLines, listSkipped } from "../../../src/store/lines/plan-lines.ts";
import { type MoneyWorld, type PlannedBills, test } from "../money-world.ts";

const DAY_MS = 86_400_000;

/** Creates a run that one bill on hold, the first of its bills, keeps open. */
async function keptOpen(world: MoneyWorld, bills: number): Promise<PlannedBills> {
  const planned = await world.plannedRun(
    Array.from({ length: bills }, () => ({})),
    { approvalValidDays: 2 },
  );
  const { businessMs } = await world.context().clockOf("acme").now();
  await world.store.transaction((trx) =>
    createHold(trx, {
      businessId: world.businessId,
      scope: "payable",
      value: planned.payableId,
      reason: "we are talking to them",
      author: "olga",
      untilMs: Math.round(businessMs + 90 * DAY_MS),
      nowMs: 1,
    }),
  );
  await world.assess(planned.runId);
  return planned;
}

async function drop(world: MoneyWorld, runId: string, dropped: readonly string[]): Promise<void> {
  await world.store.transaction((trx) =>
    recordDecision(trx, {
      runId,
      planHash: "",
      decision: "approve",
      principal: "olga",
      tokenId: "tok_olga",
      roles: ["owner"],
      dropped,
      comment: null,
      decidedAtMs: 1,
      expiresAtMs: 1,
      outcome: "accepted",
      reason: null,
      approves: [],
    }),
  );
}

function owners(world: MoneyWorld, payableIds: readonly string[]): Promise<Map<string, string>> {
  return claimOwners(world.store.db, world.businessId, payableIds);
}

test("the next run plans dropped and expired bills, while a held bill keeps its open run's claim", async ({
  world,
}) => {
  const { runId, payableIds } = await keptOpen(world, 3);
  const [held = "", dropped = "", expired = ""] = payableIds;
  await drop(world, runId, [dropped]);
  expect(await owners(world, payableIds)).toEqual(
    new Map([held, expired].map((payableId) => [payableId, runId])),
  );
  await world.control.advance("P3D");
  expect(await world.assess(runId)).toMatchObject({ ended: false });
  expect(await world.line(runId, expired)).toMatchObject({ reasonCode: "approval_expired" });
  expect(await owners(world, payableIds)).toEqual(new Map([[held, runId]]));

  const next = await world.plannedRun([]);
  const planned = await getPlanLines(world.store.db, next.runId);
  const ids = planned.map(({ line }) => line.payableId);
  expect(ids.toSorted()).toEqual([dropped, expired].toSorted());
  const skipped = await listSkipped(world.store.db, next.runId);
  expect(skipped).toMatchObject([{ payableId: held }]);
});

test("a returned bill of an open run goes to its retry, or to the next run if that has planned it", async ({
  world,
}) => {
  const { runId, payableIds } = await keptOpen(world, 3);
  const [, one = "", other = ""] = payableIds;
  await world.approve(runId);
  await world.pay(runId);
  await world.control.advance("P9D");
  await world.follow(runId);
  expect(await world.assess(runId)).toMatchObject({ ended: false });
  expect((await owners(world, payableIds)).has(one)).toBe(false);

  const comeBack = async (payableId: string): Promise<void> => {
    const { paymentIds } = await world.line(runId, payableId);
    const match = { paymentId: paymentIds[0] ?? "" };
    await world.control.outcome({ match, outcome: "return", code: "R29" });
  };
  await comeBack(one);
  await world.follow(runId);
  expect((await owners(world, [one])).get(one)).toBe(retryFailedPaymentId("acme", one));
  expect((await world.line(runId, one)).state).toBe("retrying");

  await comeBack(other);
  const next = await world.plannedRun([]);
  expect((await owners(world, [other])).get(other)).toBe(next.runId);
  await world.follow(runId);
  expect((await world.line(runId, other)).state).toBe("settled");
  await world.look(other);
  expect(await world.line(runId, other)).toMatchObject({
    state: "parked",
    reason: expect.stringMatching(/came back .* next run/),
  });
});
