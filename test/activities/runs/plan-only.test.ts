import { expect } from "vitest";
import { holdBackFromRun } from "../../../activities/cancel/hold-back.ts";
import type { ActionContext } from "../../../src/actions/context.ts";
import type { PayRunPlaybook } from "../../../src/contracts/playbook.ts";
import { runLines } from "../../../src/cli/show/run.ts";
import { takeDecision } from "../../../src/decisions/take.ts";
import { attemptsOf } from "../../../src/ledger/attempts.ts";
import { isException } from "../../../src/domain/runs/exceptions.ts";
import { FIRST_PAGE, statusOf } from "../../../src/reports/status/run.ts";
import { reportOf } from "../../../src/reports/report.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { claimOwners } from "../../../src/store/payables/claims.ts";
import { subscribersOf } from "../../../src/store/payables/subscriptions.ts";
import { getRun, type Run, upsertRun } from "../../../src/store/runs/runs.ts";
import { weekUse } from "../../../src/store/plans/plan-history.ts";
import { reservedCents } from "../../../src/store/lines/reserved.ts";
import { storePlaybook } from "../../support/stored-playbook.ts";
import { explainIn } from "../explain.ts";
import { type MoneyWorld, type PlannedBills, test } from "../money-world.ts";
import { PERIOD, POLICY } from "../planning-world.ts";

const PLAN_ONLY: Partial<PayRunPlaybook> = {
  select: { due: "all" },
  schedule: {
    days: { every: "week", on: "thursday" },
    ...{ at: "10:00", zone: "America/New_York", holidays: "business-day-before", catchUpDays: 1 },
    mode: "plan-only",
  },
};

async function runOf(world: MoneyWorld, { runId }: PlannedBills): Promise<Run> {
  const run = await getRun(world.store.db, runId);
  if (run === undefined) throw new Error(`${runId} is not in the store`);
  return run;
}

function contextOf(world: MoneyWorld) {
  const { profile } = world.world;
  return {
    store: world.store,
    profiles: { byBusinessId: () => profile, get: () => profile, all: () => [profile] },
    clocks: {
      read: () => world.context().clockOf("acme").now(),
    } as unknown as ActionContext["clocks"],
  };
}

test("a plan-only run ends with its plan and reports what it would have paid", async ({
  world,
}) => {
  const planned = await world.plannedRun([{}, { totalAmountCents: 5_000 }], PLAN_ONLY);
  const look = await world.assess(planned.runId);
  expect(look).toMatchObject({
    phase: "completed",
    ended: true,
    needsAction: false,
    exceptions: 0,
  });
  expect(look.details).toContain("would have paid 2 bills, $150.00; nothing is sent");
  expect(look.details).toContain("| planned | 2 | $150.00 |");
  const notices = await listNotices(world.store.db, { runId: planned.runId, limit: 10 });
  expect(notices.map(({ kind, subject }) => [kind, subject])).toEqual([
    [
      "run-completed",
      `run-1 ${PERIOD} would have paid 2 bills, $150.00; nothing is sent, since this schedule only plans`,
    ],
  ]);
});

test("a plan-only run without bills says so in its details", async ({ world }) => {
  const planned = await world.plannedRun([], PLAN_ONLY);
  const look = await world.assess(planned.runId);
  expect(look.phase).toBe("completed");
  expect(look.details).toContain("would have paid nothing; nothing is sent");
});

test("a plan-only run claims no bill, subscribes to no event and counts for no limit or reservation", async ({
  world,
}) => {
  const planned = await world.plannedRun([{}], PLAN_ONLY);
  await world.assess(planned.runId);
  const { businessId, store } = world;
  const today = PERIOD;
  expect(await claimOwners(store.db, businessId, planned.payableIds)).toEqual(new Map());
  expect(await subscribersOf(store.db, businessId, planned.payableIds)).toHaveLength(0);
  const others = { businessId, exceptRunId: "", today };
  expect((await weekUse(store.db, others)).businessCents).toEqual(new Map());
  expect(await reservedCents(store.db, { ...others, sourceId: "balance" })).toBe(0);
  const paying = await world.approvedRun([]);
  await world.pay(paying.runId);
  expect(await world.paymentsOf(planned.payableId)).toHaveLength(1);
  // Explain reports what another run has paid of the bill.
  const { history } = await explainIn(world, planned.payableId);
  expect(history.state).toBe("scheduled");
});

test("a plan-only run can't be approved, neither before nor after its end", async ({ world }) => {
  const planned = await world.plannedRun([{}], PLAN_ONLY);
  const decide = async () => {
    const run = await runOf(world, planned);
    const request = { decision: "approve" as const, planHash: run.planHash ?? "", drop: [] };
    const principal = { tokenId: "tok_otto", name: "otto", roles: ["owner"] };
    const clock = await world.context().clockOf("acme").now();
    return world.store.transaction((trx) =>
      takeDecision(trx, { run, request, principal, clock, nowMs: Date.now() }),
    );
  };
  expect(await decide()).toMatchObject({ accepted: false, code: "plan_only" });
  await world.assess(planned.runId);
  expect(await decide()).toMatchObject({ accepted: false, code: "plan_only" });
});

test("the gate sends nothing for a plan-only run, even if its rows are approved", async ({
  world,
}) => {
  const approved = await world.approvedRun([{}]);
  await world.store.db
    .updateTable("runs")
    .set({ policy: JSON.stringify({ ...POLICY, ...PLAN_ONLY }) })
    .where("run_id", "=", approved.runId)
    .execute();
  await world.pay(approved.runId);
  expect(await attemptsOf(world.store.db, world.businessId, approved.payableId)).toEqual([]);
  expect(await world.paymentsOf(approved.payableId)).toEqual([]);
  expect(await world.line(approved.runId, approved.payableId)).toMatchObject({
    reason: expect.stringContaining("only plans"),
  });
});

test("no bill of a plan-only run is held back", async ({ world }) => {
  await storePlaybook(world.store, {
    name: "withhold",
    text: 'kind: hold\nchoose: { where: payable.amountCents > 1 }\nunless: { releasedBy: [owner], until: "17:00 business day before" }\n',
  });
  const planned = await world.plannedRun([{}], PLAN_ONLY);
  await holdBackFromRun(world.context(), planned.runId);
  expect(await world.holds()).toEqual([]);
});

test("status, report and explain say that bills were only planned, and none is an exception", async ({
  world,
}) => {
  const planned = await world.plannedRun([{}], PLAN_ONLY);
  await world.assess(planned.runId);
  const run = await runOf(world, planned);
  const status = await statusOf(contextOf(world), run.runId, FIRST_PAGE);
  if (status === undefined) throw new Error("no status");
  expect(status).toMatchObject({
    phase: "completed",
    planOnly: true,
    byState: { planned: { count: 1 } },
  });
  expect(status.payments).toMatchObject([{ state: "planned", reasonCode: "plan_only" }]);
  expect(status.payments.filter(isException)).toEqual([]);
  expect(runLines(status).join("\n")).toContain(
    "It would have paid 1 bill, $100.00; nothing is sent",
  );
  const report = await reportOf(contextOf(world), run);
  expect(report).toMatchObject({ planOnly: true, exceptionCount: 0, byState: status.byState });
  const { history, text } = await explainIn(world, planned.payableId);
  expect(history).toMatchObject({ state: "planned", owner: null, paidOnce: { way: "never-sent" } });
  expect(text).toContain("nothing is sent, since its playbook's schedule only plans");
});

test("a period is planned only once, but may be launched again once the playbook pays", async ({
  world,
}) => {
  const planned = await world.plannedRun([{}], PLAN_ONLY);
  await world.assess(planned.runId);
  const run = await runOf(world, planned);
  const again = (changes: Partial<Parameters<typeof upsertRun>[1]>) =>
    upsertRun(world.store.db, { ...run, nowMs: Date.now(), ...changes });
  expect(await again({})).toMatchObject({ created: false });
  expect(await again({ policy: { ...POLICY, name: run.playbook }, once: true })).toMatchObject({
    created: false,
  });
  expect(await again({ policy: { ...POLICY, name: run.playbook } })).toMatchObject({
    created: true,
    runId: `${run.runId}/r2`,
  });
});
