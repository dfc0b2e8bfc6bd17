import { expect } from "vitest";
import { reserveMoney } from "../../../activities/runs/reserve-money.ts";
import type { PayRunPlaybook } from "../../../src/contracts/playbook.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { getPlan } from "../../../src/store/plans/plans.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { setWait } from "../../../src/store/runs/waits.ts";
import { type MoneyWorld, type PlannedBills, test } from "../money-world.ts";

/** Creates a run of 12 bills, approved and funded a week after their execution date. */
async function lateRun(world: MoneyWorld, late: PayRunPlaybook["late"]): Promise<PlannedBills> {
  const planned = await world.plannedRun(
    Array.from({ length: 12 }, () => ({})),
    { late },
  );
  await world.assess(planned.runId);
  await world.control.advance("P7D");
  await world.approve(planned.runId);
  await world.assess(planned.runId);
  await reserveMoney(world.context(), planned.runId);
  return planned;
}

async function states(world: MoneyWorld, { runId, payableIds }: PlannedBills): Promise<string[]> {
  const lines = await Promise.all(payableIds.map((id) => world.line(runId, id)));
  return [...new Set(lines.map(({ state }) => state))];
}

test("a run approved too late for its dates asks for all of them again in one new plan", async ({
  world,
}) => {
  const planned = await lateRun(world, "ask");
  const { runId, payableId } = planned;
  expect(await states(world, planned)).toEqual(["planned"]);
  const assessed = await world.assess(runId);
  expect(assessed).toMatchObject({ phase: "awaiting-approval", toPay: 0 });
  expect((await world.line(runId, payableId)).reason).toMatch(
    /^Back to approval: .* has passed\.$/,
  );
  expect(await states(world, planned)).toEqual(["awaiting-approval"]);
  const plan = await getPlan(world.store.db, runId);
  const { executionDate } = await world.line(runId, payableId);
  expect(plan).toMatchObject({ planNo: 2, summary: { cash: [{ date: executionDate }] } });
  const { businessMs } = await world.context().clockOf("acme").now();
  expect(Date.parse(plan?.summary.decideBy ?? "")).toBeGreaterThan(businessMs);
  const [notice] = await listNotices(world.store.db, { runId, kind: "approval-needed", limit: 1 });
  expect(notice?.subject).toMatch(/12 bills of \$1,200\.00 wait for approval again$/);
  expect(notice?.text).toMatch(
    /Asked about again:\n- .*, \$100\.00: Back to approval: its execution date .* has passed\.\n/,
  );
  expect(notice?.text).toMatch(/\n- and 2 more\n/);

  await world.assess(runId);
  expect((await getRun(world.store.db, runId))?.planNo).toBe(2);
  await world.approve(runId);
  expect(await world.pay(runId)).toMatchObject({ applied: 12 });
});

test("dates that may move by themselves need no new approval", async ({ world }) => {
  const planned = await lateRun(world, "next-business-day");
  await world.assess(planned.runId);
  expect(await states(world, planned)).toEqual(["planned"]);
  expect(await world.pay(planned.runId)).toMatchObject({ applied: 12 });
});

test("a line that can't be paid because of a wait keeps its date until it can", async ({
  world,
}) => {
  const planned = await lateRun(world, "ask");
  const { businessId } = world;
  const { serviceMs, realMs } = await world.context().clockOf("acme").now();
  const wait = {
    businessId,
    sourceId: "",
    code: "unauthorized" as const,
    message: "Renew the token.",
  };
  const retryAtMs = serviceMs + 60_000;
  await world.store.transaction((trx) =>
    setWait(trx, { ...wait, nowMs: serviceMs, realMs, retryAtMs }),
  );
  await world.assess(planned.runId);
  expect(await states(world, planned)).toEqual(["planned"]);
  await world.control.advanceWire("PT2M");
  await world.assess(planned.runId);
  expect(await states(world, planned)).toEqual(["awaiting-approval"]);
});
