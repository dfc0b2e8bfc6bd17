import { describe, expect, vi } from "vitest";
import { reviewRun } from "../../../activities/runs/review-run.ts";
import { planOnce } from "../../../activities/runs/make-plan.ts";
import { PaymentsApiError, UnexpectedAnswerError } from "../../../src/payments-api/index.ts";
import { listNotices, type Notice } from "../../../src/store/notices/notices.ts";
import { getRun, requestCancel } from "../../../src/store/runs/runs.ts";
import { type MoneyWorld, test } from "../money-world.ts";
import { inDays } from "../planning-world.ts";

const MINUTE_MS = 60_000;
const DUE = { dueDate: inDays(8), issueDate: inDays(-20), contactId: "v1", status: "approved" };

function toldOfWaits(world: MoneyWorld, id: string): Promise<Notice[]> {
  return listNotices(world.store.db, { runId: id, kind: "business-waits", limit: 5 });
}

describe("a plan that can't be made yet", () => {
  test.for([
    ["the token may not read", { when: "before", effect: "status", status: 403 }, /403/],
    ["the service fails", { when: "before", effect: "status", status: 503 }, /can't be read/],
    ["its answers are cut off", { when: "after", effect: "malformed" }, /not JSON/],
  ] as const)(
    "if %s, the run says so while it can't be planned, and people are notified",
    async ([_, fault, said], { world }) => {
      const runId = await world.world.launch(`unread-${Math.random()}`);
      const plan = () => planOnce(world.context(), runId);
      await world.control.faults([{ method: "GET", path: "/v1/funding-sources", ...fault }]);
      await expect(plan()).rejects.toThrow(/Not planned yet/);
      const run = await getRun(world.store.db, runId);
      expect(run).toMatchObject({ phase: "planning", waitingFor: expect.stringMatching(said) });
      for (let minutes = 0; minutes < 2; minutes += 1) {
        await world.control.advanceWire("PT2M");
        await expect(plan()).rejects.toThrow(/Not planned yet/);
      }
      expect(await toldOfWaits(world, runId)).toHaveLength(1);
      await world.control.faults();
      await world.control.advanceWire("PT20M");
      expect((await plan())?.planHash).toMatch(/^[0-9a-f]+$/);
      expect(await world.store.db.selectFrom("business_waits").selectAll().execute()).toEqual([]);
    },
  );
});

test("a run that is cancelled before it could be planned ends at once and is never planned", async ({
  world,
}) => {
  const context = world.context();
  const runId = await world.world.launch("cancelled-unplanned");
  await world.control.createPayable({ ...DUE, totalAmountCents: 10_000 });
  const fault = { when: "before", effect: "status", status: 503 } as const;
  await world.control.faults([{ method: "GET", path: "/v1/funding-sources", ...fault }]);
  await expect(planOnce(context, runId)).rejects.toThrow(/Not planned yet/);
  const waiting = await reviewRun(context, runId);
  expect(waiting).toMatchObject({ ended: false, toPlan: true });
  expect(waiting.details).toMatch(/planning\*\*, waiting for the service/);
  await world.store.transaction((trx) => requestCancel(trx, runId, "olga", Date.now()));
  expect(await reviewRun(context, runId)).toMatchObject({ ended: true, phase: "cancelled" });
  await world.control.faults();
  await world.control.advanceWire("PT20M");
  expect(await planOnce(context, runId)).toBeUndefined();
  expect(await getRun(world.store.db, runId)).toMatchObject({ phase: "cancelled", planHash: null });
});

test("a run that is cancelled while its bills are read claims none of them", async ({ world }) => {
  const runId = await world.world.launch("cancelled-reading");
  await world.control.createPayable({ ...DUE, totalAmountCents: 10_000 });
  const context = world.context();
  const cancel = () =>
    world.store.transaction((trx) => requestCancel(trx, runId, "olga", Date.now()));
  const clock = context.clockOf("acme");
  const read = vi.spyOn(clock, "now").mockImplementationOnce(async () => {
    await cancel();
    await reviewRun(context, runId);
    return clock.now();
  });
  vi.spyOn(context, "clockOf").mockReturnValue(clock);
  expect(await planOnce(context, runId)).toBeUndefined();
  expect(read).toHaveBeenCalled();
  expect(await world.store.db.selectFrom("claims").selectAll().execute()).toEqual([]);
});

test("a failed bill waits for an unreadable service, says so, and goes on by itself", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R03" });
  await world.pay(runId);
  await world.control.advance("P9D");
  await world.follow(runId);
  await world.control.faults([
    { method: "GET", path: "/v1/payments", when: "before", effect: "status", status: 403 },
  ]);
  for (let looks = 0; looks < 3; looks += 1) {
    expect(await world.look(payableId)).toMatchObject({
      phase: "waiting",
      waitingFor: expect.stringMatching(/^the service: The token lacks a scope/),
      outcome: null,
    });
    await world.control.advanceWire("PT1M");
  }
  const workflowId = `retry-failed-payment/acme/${payableId}`;
  expect(await toldOfWaits(world, workflowId)).toHaveLength(1);
  await world.control.faults();
  await world.control.advanceWire("PT20M");
  expect((await world.look(payableId)).phase).toBe("parked");
});

test("a bill with an unreadable record is parked, and keeps no other bill from being paid", async ({
  world,
}) => {
  const { runId, payableIds } = await world.approvedRun([{}, { contactId: "v2" }]);
  const [odd = "", other = ""] = payableIds;
  const { payables } = world.context().clientOf("acme");
  const unreadable = new UnexpectedAnswerError({
    code: "unexpected_answer",
    status: 200,
    outcome: "not_applied",
    method: "GET",
    path: `/v1/payables/${odd}`,
    message: "unexpected answer 200: totalAmountCents: expected int",
    isJson: true,
  });
  world.override = {
    getPayable: (id) => (id === odd ? Promise.reject(unreadable) : payables.get(id)),
  };
  await world.pay(runId);
  expect(await world.line(runId, odd)).toMatchObject({
    state: "parked",
    reasonCode: "unreadable",
    reason: expect.stringMatching(/totalAmountCents.*try it again\.$/),
  });
  expect((await world.line(runId, other)).paymentIds).toHaveLength(1);
  world.override = {};
  expect(await world.paymentsOf(odd)).toEqual([]);
});

const BROKEN = new PaymentsApiError({
  ...{ status: 500, code: "server_error", outcome: "not_applied", message: "broken" },
  ...{ method: "GET", path: "/v1" },
});

describe("a bill whose payments can't be read", () => {
  test("a bill whose payments can't be read keeps no other bill from being followed or paid", async ({
    world,
  }) => {
    const { runId, payableIds } = await world.approvedRun([{}, {}]);
    const [odd = "", other = ""] = payableIds;
    await world.pay(runId);
    await world.control.advance("P9D");
    const { payments } = world.context().clientOf("acme");
    world.override = {
      listAll: (filters, options) =>
        filters?.payableId === odd ? Promise.reject(BROKEN) : payments.listAll(filters, options),
    };
    for (let looks = 0; looks < 2; looks += 1) await world.follow(runId);
    expect((await world.line(runId, other)).state).toBe("settled");
    expect((await world.line(runId, odd)).state).toBe("scheduled");
    expect(await world.store.db.selectFrom("business_waits").selectAll().execute()).toEqual([]);
    world.override = {};
    await world.follow(runId);
    expect((await world.line(runId, odd)).state).toBe("settled");
  });

  test("a bounced bill that can't be read fails its own retry and causes no wait of the business", async ({
    world,
  }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R03" });
    await world.pay(runId);
    await world.control.advance("P9D");
    await world.follow(runId);
    world.override = { getPayable: () => Promise.reject(BROKEN) };
    await expect(world.look(payableId)).rejects.toThrow(/alone can't be read/);
    expect(await world.store.db.selectFrom("business_waits").selectAll().execute()).toEqual([]);
    world.override = {};
    expect((await world.look(payableId)).phase).toBe("parked");
  });
});

describe("a bill that can't be read", () => {
  test("a bill that can't be read backs off with its reason, and people are notified after an hour", async ({
    world,
  }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    world.override = { getPayable: () => Promise.reject(new Error("500 for ever")) };
    const backOffsMs: number[] = [];
    for (let turns = 0; turns < 10; turns += 1) {
      const { serviceMs } = await world.context().clockOf("acme").now();
      await world.pay(runId);
      backOffsMs.push((await world.backOffOf(runId, payableId)).notBeforeMs - serviceMs);
      await world.world.pass(10 * MINUTE_MS);
    }
    expect(backOffsMs.at(-1)).toBeGreaterThan(5 * MINUTE_MS);
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "planned",
      reason: expect.stringContaining("500 for ever"),
    });
    const notices = await world.store.db
      .selectFrom("notices")
      .select("text")
      .where("data", "like", `%${payableId}%`)
      .execute();
    expect(notices).toEqual([{ text: expect.stringContaining("500 for ever") }]);
  });
});

test("a bill whose reads take too long to be paid backs off between its tries", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  const { payments } = world.context().clientOf("acme");
  let reads = 0;
  vi.useFakeTimers({ toFake: ["Date"] });
  world.override = {
    listAll: async (filters, options) => {
      reads += 1;
      if (reads > 20) throw new Error("read again and again");
      const all = await payments.listAll(filters, options);
      vi.setSystemTime(Date.now() + 3 * MINUTE_MS);
      return all;
    },
  };
  try {
    await world.pay(runId);
  } finally {
    // Otherwise the next test's reads would set the time of this process for good.
    world.override = {};
    vi.useRealTimers();
  }
  expect(reads).toBeLessThan(5);
  expect(await world.line(runId, payableId)).toMatchObject({
    state: "planned",
    reason: "The service was read too long ago.",
    backOffs: 1,
  });
  expect(await world.paymentsOf(payableId)).toEqual([]);
});
