import { expect, test } from "vitest";
import { waitingBills } from "../../../src/store/approvals/approval-waits.ts";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import { sumsByDay } from "../../../src/store/lines/day-sums.ts";
import { changeLine, type LineChange } from "../../../src/store/lines/lines.ts";
import { givenBackIn, parkedLines, sumOfParked } from "../../../src/store/lines/parked-lines.ts";
import { upsertRetry, updateRetry } from "../../../src/store/retries/retries.ts";
import { planningsOf } from "../../../src/store/lines/payable-history.ts";
import { recallableLines, sumsOfSent } from "../../../src/store/lines/sent-lines.ts";
import { linesOfVendor } from "../../../src/store/lines/vendor-lines.ts";
import { getPlan } from "../../../src/store/plans/plans.ts";
import { linesChangedSince } from "../../../src/store/plans/plan-changes.ts";
import { storeReplannedLines } from "../../../src/store/plans/replan-writes.ts";
import { approval, approvedRun, hashedLine } from "../approved-run.ts";
import { planLine } from "../fixtures.ts";
import { testStore } from "../support.ts";

const LINES: Readonly<Record<string, LineChange>> = {
  ready: { state: "planned" },
  sent: { state: "scheduled", paymentIds: ["pay_1"] },
  banked: { state: "processing", paymentIds: ["pay_2"] },
  closed: { state: "parked", reasonCode: "R02", reason: "No account" },
  asked: { state: "awaiting-approval" },
};
const [BUSINESS, DAY] = ["biz_1", "2026-11-05"];
const FIRST = { offset: 0, limit: 10 };

async function storeOfAWeek() {
  const { store } = await testStore();
  const runId = await approvedRun(store, "weekly", Object.keys(LINES));
  for (const [payableId, change] of Object.entries(LINES)) {
    await changeLine(store.db, { runId, payableId }, change, 4);
  }
  return { store, runId, db: store.db };
}

test("a day's money is summed by state, and money that the service has is summed separately", async () => {
  const { db } = await storeOfAWeek();
  const of = (sums: Awaited<ReturnType<typeof sumsByDay>>) =>
    sums
      .toSorted((one, other) => one.state.localeCompare(other.state))
      .map(({ state, count, cents }) => [state, count, cents]);
  expect(of(await sumsByDay(db, BUSINESS, { from: DAY, to: DAY }))).toEqual([
    ["awaiting-approval", 1, 10_000],
    ["parked", 1, 10_000],
    ["planned", 1, 10_000],
    ["processing", 1, 10_000],
    ["scheduled", 1, 10_000],
  ]);
  expect(await sumsByDay(db, BUSINESS, { from: "2026-11-06", to: "2026-12-01" })).toEqual([]);
  expect(of(await sumsOfSent(db, BUSINESS))).toEqual([
    ["processing", 1, 10_000],
    ["scheduled", 1, 10_000],
  ]);
  const recallable = await recallableLines(db, BUSINESS, DAY, FIRST);
  expect(recallable.map(({ line }) => line.payableId)).toEqual(["sent"]);
  expect(await recallableLines(db, BUSINESS, "2026-11-06", FIRST)).toEqual([]);
});

test("a failed bill counts as retrying until it is paid again, and then as on its way", async () => {
  const { db, runId } = await storeOfAWeek();
  const paymentIds = ["pay_3"];
  await changeLine(db, { runId, payableId: "closed" }, { state: "retrying", paymentIds }, 5);
  const key = { businessId: BUSINESS, payableId: "closed" };
  await upsertRetry(db, { ...key, business: "acme", runId, workflowId: "retry/1", nowMs: 5 });
  await updateRetry(db, key, { handledPaymentIds: paymentIds, phase: "waiting" }, 5);
  const sumOf = async (state: string) =>
    (await sumsByDay(db, BUSINESS, { from: DAY, to: DAY })).find((sum) => sum.state === state);
  expect(await sumOf("retrying")).toMatchObject({ count: 1, cents: 10_000 });
  await changeLine(db, { runId, payableId: "closed" }, { paymentIds: ["pay_3", "pay_4"] }, 6);
  await updateRetry(db, key, { phase: "following" }, 6);
  expect(await sumOf("retrying")).toBeUndefined();
  expect(await sumOf("scheduled")).toMatchObject({ count: 2, cents: 20_000 });
  await updateRetry(db, key, { moneyTaken: true }, 7);
  expect(await sumOf("processing")).toMatchObject({ count: 2, cents: 20_000 });
});

test("a parked bill waits for a person until a later run takes it, and then counts only there, however it ends", async () => {
  const { store, db, runId } = await storeOfAWeek();
  expect(await sumOfParked(db, BUSINESS)).toEqual({ count: 1, cents: 10_000 });
  const parked = await parkedLines(db, BUSINESS, FIRST);
  expect(parked.map(({ plan }) => plan.payableId)).toEqual(["closed"]);
  // A run that only plans doesn't pay the bill.
  const beside = await approvedRun(store, "beside", ["closed"]);
  const planned = { state: "skipped", reasonCode: "plan_only" } as const;
  await changeLine(db, { runId: beside, payableId: "closed" }, planned, 9_000);
  expect(await sumOfParked(db, BUSINESS)).toEqual({ count: 1, cents: 10_000 });
  const given = () => givenBackIn(db, { runId, payableId: "closed" });
  expect(await given()).toEqual(new Map());
  const again = await approvedRun(store, "again", ["closed"]);
  expect(await given()).toEqual(new Map([["closed", again]]));
  for (const state of ["settled", "given-up", "parked"] as const) {
    await changeLine(db, { runId: again, payableId: "closed" }, { state }, 9_500);
    expect(await given(), state).toEqual(new Map([["closed", again]]));
    const sums = await sumsByDay(db, BUSINESS, { from: DAY, to: DAY });
    const bill = sums.filter((sum) => sum.state === state);
    expect(bill, state).toEqual([{ executionDate: DAY, state, count: 1, cents: 10_000 }]);
    expect(
      sums.some((sum) => sum.state === "parked"),
      state,
    ).toBe(state === "parked");
  }
  await changeLine(db, { runId: again, payableId: "closed" }, { state: "planned" }, 9_600);
  expect(await sumOfParked(db, BUSINESS)).toEqual({ count: 0, cents: 0 });
  expect(await parkedLines(db, BUSINESS, FIRST)).toEqual([]);
});

test("a vendor's lines are listed from all runs", async () => {
  const { db, runId } = await storeOfAWeek();
  const lines = await linesOfVendor(db, { businessId: BUSINESS, contactId: "con_1" }, 3);
  expect(lines.map(({ line, launchedAtMs }) => [line.runId, launchedAtMs])).toEqual(
    Array.from({ length: 3 }, () => [runId, 1_000]),
  );
  expect(await linesOfVendor(db, { businessId: BUSINESS, contactId: "con_2" }, 3)).toEqual([]);
});

test("replanned lines are compared with the plan that a person has looked at", async () => {
  const { store, db, runId } = await storeOfAWeek();
  const looked = (await getPlan(db, runId))?.summary.planHash ?? "";
  expect(await linesChangedSince(db, runId, looked)).toEqual([]);
  const plannedAt = async () =>
    (await planningsOf(db, BUSINESS, "asked")).map(({ createdAtMs }) => createdAtMs);
  const [first = 0] = await plannedAt();
  for (const version of [2, 3]) {
    const changes = { version, amountCents: version * 10_000, lineHash: `hash-${version}` };
    const lines = [{ plan: planLine("asked", changes), reason: "its amount has changed" }];
    await store.transaction((trx) =>
      storeReplannedLines(trx, { runId, lines, nowMs: first + version }),
    );
  }
  expect(await plannedAt()).toEqual([first, first + 2, first + 3]);
  const changed = await linesChangedSince(db, runId, looked);
  expect(changed?.map(({ before, after }) => [before.amountCents, after.amountCents])).toEqual([
    [10_000, 30_000],
  ]);
  expect(await linesChangedSince(db, runId, "of-no-plan")).toBeUndefined();
});

test("bills that wait for a person leave out those that the person has approved, while the approval is valid", async () => {
  const { store, db, runId } = await storeOfAWeek();
  const countFor = async (name: string, businessMs: number) =>
    (await waitingBills(db, { runId, businessMs }, name)).reduce(
      (sum, { count }) => sum + count,
      0,
    );
  expect(await countFor("dora", 5)).toBe(1);
  await store.transaction((trx) =>
    recordDecision(trx, approval(runId, "dora", [hashedLine("asked")])),
  );
  expect(await countFor("Dora", 5)).toBe(0);
  expect(await countFor("dora", 20_000)).toBe(1);
});

test("waiting bills show their approvals, and bills on hold are included only if an approval is missing", async () => {
  const { db, runId } = await storeOfAWeek();
  const twice = db.updateTable("run_lines").set({ quorum: 2 });
  await twice.where("payable_id", "in", ["asked", "ready"]).execute();
  for (const payableId of ["ready", "banked"])
    await changeLine(db, { runId, payableId }, { state: "on-hold" }, 5);
  const waiting = await waitingBills(db, { runId, businessMs: 5 });
  expect(waiting).toMatchObject([
    { stage: 0, given: 1, isHeld: false, count: 1, cents: 10_000 },
    { stage: 0, given: 1, isHeld: true, count: 1, cents: 10_000 },
  ]);
});
