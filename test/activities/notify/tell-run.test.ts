import { expect } from "vitest";
import { failRun } from "../../../activities/runs/plan-run.ts";
import { offCycleInputs } from "../../../src/domain/off-cycle.ts";
import { listNotices, type Notice } from "../../../src/store/notices/notices.ts";
import { getPlan } from "../../../src/store/plans/plans.ts";
import { type MoneyWorld, test } from "../money-world.ts";

const MINUTE_MS = 60_000;

/** Returns the subjects of a run's notices, by kind. */
async function told(world: MoneyWorld, runId: string): Promise<Record<string, string[]>> {
  const notices = (await listNotices(world.store.db, { runId, limit: 100 })).toReversed();
  const byKind = Map.groupBy(notices, ({ kind }) => kind);
  return Object.fromEntries(
    [...byKind].map(([kind, of]) => [kind, of.map(({ subject }) => subject)]),
  );
}

async function only(world: MoneyWorld, runId: string, kind: string): Promise<Notice> {
  const [first, ...more] = await listNotices(world.store.db, { runId, kind, limit: 10 });
  if (first === undefined || more.length > 0) throw new Error(`not one notice of ${kind}`);
  return first;
}

test("the approvers of a plan are notified once, however often the run is assessed", async ({
  world,
}) => {
  const { runId } = await world.plannedRun([{}, {}]);
  for (let look = 0; look < 3; look += 1) await world.assess(runId);
  const notice = await only(world, runId, "approval-needed");
  expect(notice.subject).toMatch(/2 bills of \$200\.00 wait for approval$/);
  expect(notice.text).toContain(`payrun approve ${runId}`);
  expect(notice.text).toMatch(/An approval by .*owner.* counts for 2 bills, \$200\.00\./);
  expect(notice.text).toMatch(/Decide by \w+day, .* New York: after that, payment dates change/);
  expect(notice.roles).toContain("owner");
  expect(notice.data).toMatchObject({ count: 2, cents: 20_000 });
});

test("approvers are reminded once when the time to decide is nearly over, and not after it", async ({
  world,
}) => {
  const { runId } = await world.plannedRun([{}]);
  await world.assess(runId);
  const decideBy = (await getPlan(world.store.db, runId))?.summary.decideBy ?? "";
  const { businessMs } = await world.context().clockOf("acme").now();
  const leftMs = Date.parse(decideBy) - businessMs;
  expect(leftMs).toBeGreaterThan(0);
  expect(Object.keys(await told(world, runId))).toEqual(["approval-needed"]);
  const seconds = Math.max(1, Math.floor((leftMs - 20 * MINUTE_MS) / 1_000));
  await world.control.advance(`PT${seconds}S`);
  await world.assess(runId);
  await world.assess(runId);
  expect((await only(world, runId, "decide-by-near")).roles).toContain("owner");
  await world.control.advance("PT2H");
  await world.assess(runId);
  expect((await told(world, runId))["decide-by-near"]).toHaveLength(1);
});

function park({ store }: MoneyWorld, payableIds: readonly string[]): Promise<unknown> {
  return store.db
    .updateTable("run_lines")
    .set({ state: "parked", reason_code: "refused", reason: "The service says no." })
    .where("payable_id", "in", payableIds)
    .execute();
}

test("bills that are parked before the notice of others was sent join it", async ({ world }) => {
  const { runId, payableIds } = await world.approvedRun([{}, {}, {}]);
  await world.assess(runId);
  for (const payableId of payableIds) {
    await park(world, [payableId]);
    await world.assess(runId);
  }
  const { subject, text, data } = await only(world, runId, "parked");
  expect(subject).toMatch(/3 bills of \$300\.00 need a person$/);
  for (const payableId of payableIds) expect(text).toContain(payableId);
  expect(data["count"]).toBe(3);
});

test("bills that need a person are reported in one notice, later ones when the run ends", async ({
  world,
}) => {
  const { runId, payableIds } = await world.approvedRun([{}, {}, {}]);
  await world.assess(runId);
  await park(world, payableIds.slice(0, 2));
  await world.assess(runId);
  await world.assess(runId);
  const first = await only(world, runId, "parked");
  expect(first.roles).toEqual(["operator"]);
  expect(first.data["payableIds"]).toEqual(expect.arrayContaining(payableIds.slice(0, 2)));
  expect(first.data["count"]).toBe(2);
  expect(first.text).toContain(`(${payableIds[0]}), $100.00: The service says no.`);

  await world.store.db.updateTable("notices").set({ routed_at_ms: Date.now() }).execute();
  await park(world, payableIds.slice(2));
  expect((await world.assess(runId)).phase).toBe("completed-with-exceptions");
  const all = await told(world, runId);
  expect(all["parked"]).toHaveLength(2);
  expect(all["parked"]?.[1]).toMatch(/1 bill of \$100\.00 needs a person$/);
  expect(all["run-completed"]).toHaveLength(1);
  expect(all["run-completed"]?.[0]).toMatch(/ended with exceptions$/);
  await world.assess(runId);
  expect(await told(world, runId)).toEqual(all);
});

/** As if the run were still being planned. */
function withoutPlan(world: MoneyWorld, runId: string): Promise<unknown> {
  const runs = world.store.db.updateTable("runs").set({ plan_hash: null });
  return runs.where("run_id", "=", runId).execute();
}

test("a playbook that wants no notices of its runs causes none", async ({ world }) => {
  const notify = { people: "none", digest: "none" } as const;
  const { runId } = await world.plannedRun([{}], { notify });
  await world.assess(runId);
  await withoutPlan(world, runId);
  await failRun(world.context(), runId, "no reason");
  expect(await told(world, runId)).toEqual({});
});

test("the notice of a run that can't be planned has the reason; a planned one doesn't end so", async ({
  world,
}) => {
  const { runId } = await world.plannedRun([{}]);
  await failRun(world.context(), runId, "too late");
  await withoutPlan(world, runId);
  await failRun(world.context(), runId, "Nobody has accepted the ACH debit authorization.");
  const notice = await only(world, runId, "run-failed");
  expect(notice.text).toContain("paid nothing: Nobody has accepted");
  expect(notice.subject).toMatch(/could not be planned$/);
});

test("the notice of an off-cycle run that could not be planned says how to ask for it again", async ({
  world,
}) => {
  const { runId, payableIds } = await world.plannedRun([{}, {}]);
  const inputs = JSON.stringify(offCycleInputs({ payableIds, amountCents: null }));
  await world.store.db
    .updateTable("runs")
    .set({ inputs, plan_hash: null })
    .where("run_id", "=", runId)
    .execute();
  await failRun(world.context(), runId, "no reason");
  const [name = ""] = runId.split("/").slice(2);
  expect((await only(world, runId, "run-failed")).text).toContain(
    `payrun pay ${payableIds.join(" ")} --playbook ${name}`,
  );
});

test("a lasting fault of the whole business causes one notice, whichever run meets it", async ({
  world,
}) => {
  const one = await world.plannedRun([{}]);
  const two = await world.plannedRun([{}]);
  const { serviceMs } = await world.context().clockOf("acme").now();
  const wait = (code: string, sinceMs: number) => ({
    business_id: world.businessId,
    source_id: "",
    code,
    message: "The business is locked.",
    since_ms: Math.floor(sinceMs),
    retry_at_ms: Math.floor(serviceMs) + 30 * MINUTE_MS,
    tries: 1,
  });
  await world.store.db
    .insertInto("business_waits")
    .values([
      wait("payments_locked", serviceMs - 2 * MINUTE_MS),
      wait("rate_limited", serviceMs - 2 * MINUTE_MS),
      wait("forbidden", serviceMs),
    ])
    .execute();
  await world.assess(one.runId);
  await world.assess(two.runId);
  const notices = await listNotices(world.store.db, { kind: "business-waits", limit: 10 });
  expect(notices.map(({ subject }) => subject)).toEqual([
    "Payments wait: the service refuses the business (payments_locked)",
  ]);
});
