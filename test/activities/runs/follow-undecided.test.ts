import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { followPayments } from "../../../activities/runs/follow-payments.ts";
import { reserveMoney } from "../../../activities/runs/reserve-money.ts";
import { LINE } from "../../../src/contracts/line-states.ts";
import { addBankingDays } from "../../../src/domain/clock/bank-calendar.ts";
import { PaymentsApiError, type PaymentsClient } from "../../../src/payments-api/index.ts";
import { listAudit } from "../../../src/store/audit/audit.ts";
import { createHold, listHolds, releaseHold } from "../../../src/store/holds/holds.ts";
import { holdForLoss } from "../../../src/store/janitor/behind.ts";
import { countLines } from "../../../src/store/lines/line-counts.ts";
import { getPlanLines } from "../../../src/store/lines/plan-lines.ts";
import { claimOwners } from "../../../src/store/payables/claims.ts";
import { flagLooks } from "../../../src/store/payables/subscriptions.ts";
import { storeReplannedLines } from "../../../src/store/plans/replan-writes.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { explainIn } from "../explain.ts";
import { type MoneyWorld, type PlannedBills, test } from "../money-world.ts";

async function hold({ store, businessId }: MoneyWorld, value: string): Promise<string> {
  const { holdId } = await store.transaction((trx) =>
    createHold(trx, {
      ...{ businessId, scope: "payable", value, reason: "The goods have not come." },
      ...{ author: "olga", nowMs: Date.now() },
    }),
  );
  return holdId;
}

/** Takes an event about the bill, and does what the run's workflow does next. */
async function heard(world: MoneyWorld, { runId, payableId }: PlannedBills): Promise<void> {
  const { store, businessId } = world;
  await store.transaction((trx) => flagLooks(trx, { businessId, payableIds: [payableId] }));
  expect((await world.assess(runId)).toFollow).toBe(1);
  await followPayments(world.context(), runId);
}

/** Makes a payment as another user of the service would. */
async function paidByOthers(world: MoneyWorld, payableId: string): Promise<void> {
  const source = { paymentRail: "SERVICE", fundingSource: "balance" } as const;
  const { payments } = world.context().clientOf("acme");
  await payments.create({ payableId, ...source }, { idempotencyKey: randomUUID() });
}

async function isClaimed({ store, businessId }: MoneyWorld, payableId: string): Promise<boolean> {
  return (await claimOwners(store.db, businessId, [payableId])).size > 0;
}

async function actionsOn({ store, businessId }: MoneyWorld, subject: string): Promise<string[]> {
  const entries = await listAudit(store.db, { businessId, subject: [subject] });
  return entries.map(({ action }) => action);
}

/** Ways for a bill to wait in its run without being read by a lane. */
const WAITS = {
  "is on hold": async (world: MoneyWorld) => {
    const planned = await world.approvedRun([{}]);
    await hold(world, planned.payableId);
    return planned;
  },
  "waits for approval": (world: MoneyWorld) => world.plannedRun([{}]),
  "is on hold and waits for approval": async (world: MoneyWorld) => {
    const planned = await world.plannedRun([{}]);
    await hold(world, planned.payableId);
    return planned;
  },
  "waits for money": (world: MoneyWorld) => world.approvedRun([{}]),
} as const;

test.for(Object.entries(WAITS))(
  "a bill that %s and is paid outside Payrun ends in its run as soon as an event says so",
  async ([, waits], { world }) => {
    const planned = await waits(world);
    const { runId, payableId } = planned;
    const { phase } = await world.assess(runId);
    expect(phase).not.toBe("completed");
    await world.control.payOutside(payableId);
    await heard(world, planned);
    expect(await world.line(runId, payableId)).toMatchObject({
      ...{ state: "paid-elsewhere", reasonCode: "paid_elsewhere", paymentIds: [] },
      reason: expect.stringContaining("Nothing is owed any more"),
    });
    expect(await isClaimed(world, payableId)).toBe(false);
    expect(await actionsOn(world, payableId)).toContain("line:paid-elsewhere");
    expect(await world.assess(runId)).toMatchObject({
      ...{ ended: true, phase: "completed", waitingFor: null, needsAction: false },
    });
    const { history, text } = await explainIn(world, payableId);
    expect(history.paidOnce).toMatchObject({ verdict: "not-paid", way: "paid-elsewhere" });
    expect(text).toContain("Not paid by Payrun");
  },
);

test("without an event, a bill on hold that is paid outside Payrun ends the next banking morning", async ({
  world,
}) => {
  const planned = await WAITS["is on hold"](world);
  const { runId, payableId } = planned;
  const { toFollow, wakeInMs } = await world.assess(runId);
  expect(toFollow).toBe(0);
  await world.control.payOutside(payableId);
  await world.control.advance(`PT${Math.ceil(wakeInMs / 1_000)}S`);
  expect((await world.assess(runId)).toFollow).toBe(1);
  await followPayments(world.context(), runId);
  expect((await world.assess(runId)).phase).toBe("completed");
  expect((await world.line(runId, payableId)).state).toBe("paid-elsewhere");
});

test("somebody else's payment ends a bill that waits once it has settled, not while it may still be called back", async ({
  world,
}) => {
  const planned = await WAITS["is on hold"](world);
  const { runId, payableId } = planned;
  await paidByOthers(world, payableId);
  await heard(world, planned);
  expect((await world.line(runId, payableId)).state).toBe("on-hold");
  expect(await isClaimed(world, payableId)).toBe(true);
  await world.control.advance("P14D");
  await heard(world, planned);
  expect((await world.line(runId, payableId)).state).toBe("paid-elsewhere");
});

test("a bill that waits and is still owed is read once a banking morning, and stays as it is", async ({
  world,
}) => {
  const { runId, payableId } = await WAITS["is on hold"](world);
  const { wakeInMs } = await world.assess(runId);
  await world.control.advance(`PT${Math.ceil(wakeInMs / 1_000)}S`);
  const before = await world.line(runId, payableId);
  expect((await followPayments(world.context(), runId)).changed).toBe(0);
  const { businessMs } = await world.context().clockOf("acme").now();
  const { pollAtMs, updatedAtMs, ...after } = await world.line(runId, payableId);
  expect({ ...before, ...after }).toEqual(before);
  expect(pollAtMs).toBeGreaterThan(businessMs + 20 * 3_600_000);
  expect((await world.assess(runId)).toFollow).toBe(0);
});

test("a bill on hold that is blocked by now stays: it may be free again on its day", async ({
  world,
}) => {
  const planned = await WAITS["is on hold"](world);
  await world.control.changePayable(planned.payableId, { status: "blocked" });
  await heard(world, planned);
  expect((await world.line(planned.runId, planned.payableId)).state).toBe("on-hold");
});

test.for(["void", "declined"])(
  "a bill on hold that is %s by now is parked, and the next run may plan it",
  async (status, { world }) => {
    const planned = await WAITS["is on hold"](world);
    await world.control.changePayable(planned.payableId, { status });
    await heard(world, planned);
    expect(await world.line(planned.runId, planned.payableId)).toMatchObject({
      ...{ state: "parked", reasonCode: `payable_${status}` },
      reason: expect.stringContaining(`status is ${status} now`),
    });
    expect((await world.assess(planned.runId)).phase).toBe("completed-with-exceptions");
    expect(await isClaimed(world, planned.payableId)).toBe(false);
  },
);

/** Readings that don't prove that nothing of the bill is to be paid. */
const PROVE_NOTHING: Readonly<Record<string, (world: MoneyWorld) => MoneyWorld["override"]>> = {
  "shows a payment that can't be read": (world) => ({
    listAll: async (filter, options) => {
      const listed = await world.world.context().clientOf("acme").payments.listAll(filter, options);
      return listed.map((payment) => ({ ...payment, unreadable: { status: "odd" } }));
    },
  }),
  "contradicts itself": () => ({ listAll: () => Promise.resolve([]) }),
};

test.for(Object.entries(PROVE_NOTHING))(
  "a reading of a bill on hold that %s ends nothing",
  async ([name, override], { world }) => {
    const planned = await WAITS["is on hold"](world);
    const { runId, payableId } = planned;
    await paidByOthers(world, payableId);
    await world.assess(runId);
    world.override = override(world);
    await heard(world, planned);
    expect((await world.line(runId, payableId)).state, name).toBe("on-hold");
    expect((await world.assess(runId)).toFollow).toBe(0);
    world.override = {};
    await world.control.advance("P14D");
    await heard(world, planned);
    expect((await world.line(runId, payableId)).state, name).toBe("paid-elsewhere");
  },
);

/** Bills that seem to be paid for a moment, by what the bill and its payments say. */
const NOT_PAID_OFF: Readonly<Record<string, object>> = {
  "a payment of half of it, which the bill has counted already, is on its way": {
    amountPaidCents: 5_000,
    remainingAmountCents: 5_000,
  },
  "its total is 0 while its lines are written anew": {
    totalAmountCents: 0,
    amountPaidCents: 0,
    remainingAmountCents: 0,
  },
  "it says that some of it is left": { amountPaidCents: 10_000, remainingAmountCents: 1 },
};

test.for(Object.entries(NOT_PAID_OFF))(
  "a bill that waits doesn't end because %s",
  async ([name, shown], { world }) => {
    const planned = await WAITS["is on hold"](world);
    const { runId, payableId } = planned;
    const { payables, payments } = world.context().clientOf("acme");
    const half = name.startsWith("a payment of half");
    if (half) await world.control.payOutside(payableId, 5_000);
    world.override = {
      getPayable: async (...asked) => ({ ...(await payables.get(...asked)), ...shown }),
      listAll: async (...asked) =>
        (await payments.listAll(...asked)).map((payment) => ({ ...payment, status: "processing" })),
    };
    await heard(world, planned);
    expect((await world.line(runId, payableId)).state).toBe("on-hold");
    expect(await isClaimed(world, payableId)).toBe(true);
  },
);

test("a bill that the service refuses to show keeps no other bill from ending", async ({
  world,
}) => {
  const { runId, payableIds } = await world.plannedRun([{}, {}]);
  const [refused = "", paid = ""] = payableIds;
  await world.control.payOutside(paid);
  const { payables } = world.context().clientOf("acme");
  world.override = {
    getPayable: (...asked) =>
      asked[0] === refused
        ? Promise.reject(
            new PaymentsApiError({
              method: "GET",
              path: "/payables",
              status: 422,
              code: "validation_error",
              message: "odd",
              outcome: "not_applied",
            }),
          )
        : payables.get(...asked),
  };
  const { store, businessId } = world;
  await store.transaction((trx) => flagLooks(trx, { businessId, payableIds }));
  await followPayments(world.context(), runId);
  expect((await world.line(runId, paid)).state).toBe("paid-elsewhere");
  expect((await world.line(runId, refused)).state).toBe("awaiting-approval");
});

test("a bill on hold that is paid outside Payrun only in part stays on hold", async ({ world }) => {
  const planned = await WAITS["is on hold"](world);
  await world.control.payOutside(planned.payableId, 4_000);
  await heard(world, planned);
  expect(await world.line(planned.runId, planned.payableId)).toMatchObject({
    ...{ state: "on-hold", reasonCode: "on_hold", amountCents: 10_000 },
  });
  expect(await isClaimed(world, planned.payableId)).toBe(true);
});

test("a part of a bill that waits stays while that part is owed, and ends once nothing is", async ({
  world,
}) => {
  const planned = await world.plannedRun([{}], {}, 3_000);
  await world.control.payOutside(planned.payableId, 6_000);
  await heard(world, planned);
  const { runId, payableId } = planned;
  expect((await world.line(runId, payableId)).state).toBe("awaiting-approval");
  await world.control.payOutside(payableId);
  await heard(world, planned);
  expect((await world.line(runId, payableId)).state).toBe("paid-elsewhere");
});

/** What may happen to a line while its bill is read. */
const MEANWHILE: readonly (readonly [
  string,
  keyof typeof WAITS,
  (world: MoneyWorld, planned: PlannedBills) => Promise<unknown>,
])[] = [
  [
    "is put on hold",
    "waits for approval",
    async (world, { runId, payableId }) => {
      await hold(world, payableId);
      await world.assess(runId);
    },
  ],
  [
    "is planned anew",
    "waits for approval",
    async ({ store }, { runId }) => {
      const [line] = await getPlanLines(store.db, runId);
      if (line === undefined) throw new Error("no line");
      const plan = { ...line.plan, version: line.plan.version + 1, lineHash: "another" };
      const lines = [{ plan, reason: "its date has passed" }];
      await store.transaction((trx) =>
        storeReplannedLines(trx, { runId, lines, nowMs: Date.now() }),
      );
    },
  ],
  ["gets its money", "waits for money", (world, { runId }) => reserveMoney(world.context(), runId)],
  [
    "an event speaks of",
    "waits for approval",
    ({ store, businessId }, { payableId }) =>
      store.transaction((trx) => flagLooks(trx, { businessId, payableIds: [payableId] })),
  ],
];

test.for(MEANWHILE)(
  "a bill that %s while it is read stays as that has left it, and is read again",
  async ([, waits, meanwhile], { world }) => {
    const planned = await WAITS[waits](world);
    const { runId, payableId } = planned;
    await world.assess(runId);
    await world.control.payOutside(payableId);
    const { payables } = world.context().clientOf("acme");
    const getPayable: PaymentsClient["payables"]["get"] = async (...asked) => {
      const payable = await payables.get(...asked);
      await meanwhile(world, planned);
      return payable;
    };
    world.override = { getPayable };
    await heard(world, planned);
    const left = await world.line(runId, payableId);
    expect(LINE.decidable).toContain(left.state);
    expect(await isClaimed(world, payableId)).toBe(true);
    const { toFollow, toPay } = await world.assess(runId);
    expect(toFollow + toPay).toBe(1);
    world.override = {};
    await followPayments(world.context(), runId);
    await world.lane(runId);
    expect((await world.line(runId, payableId)).state).toBe("paid-elsewhere");
  },
);

test("a bill that a request may still pay isn't called paid elsewhere while it is on hold", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  world.override = {
    sendMoneyWrite: () =>
      Promise.resolve({ kind: "no-answer", sent: true, code: "no_answer", reason: "reset" }),
  };
  await world.pay(runId);
  world.override = {};
  await hold(world, payableId);
  await world.store.db
    .updateTable("run_lines")
    .set({ state: "on-hold", reason_code: "on_hold", look: 1 })
    .execute();
  await world.control.payOutside(payableId);
  expect((await world.assess(runId)).toFollow).toBe(0);
  await followPayments(world.context(), runId);
  expect((await world.line(runId, payableId)).state).toBe("on-hold");
  expect(await isClaimed(world, payableId)).toBe(true);
});

test("a bill whose forgotten payment a restored store finds isn't called paid elsewhere: after its release it is followed", async ({
  world,
}) => {
  const planned = await world.approvedRun([{}]);
  const { runId, payableId } = planned;
  const { store, businessId } = world;
  const { serviceMs, businessMs } = await world.context().clockOf("acme").now();
  await store.transaction((trx) =>
    holdForLoss(trx, { businessId, evidence: "a test", hadItAtMs: 1, serviceMs, businessMs }),
  );
  await world.assess(runId);
  const { executionDate } = await world.line(runId, payableId);
  const { payments } = world.context().clientOf("acme");
  const source = { paymentRail: "SERVICE", fundingSource: "balance" } as const;
  const forgotten = { payableId, ...source, scheduledAt: executionDate };
  await payments.create(forgotten, { idempotencyKey: randomUUID() });
  await world.world.pass(10 * 60_000);
  await heard(world, planned);
  expect((await world.line(runId, payableId)).state).toBe("on-hold");
  expect(await actionsOn(world, payableId)).not.toContain("attempt.adopted");
  const [loss] = await listHolds(store.db, { businessId, nowMs: 0 });
  await store.transaction((trx) => releaseHold(trx, loss?.holdId ?? "", "olga", Date.now()));
  await world.pay(runId);
  expect(await world.line(runId, payableId)).toMatchObject({
    ...{ state: "scheduled", paymentIds: [expect.any(String)] },
  });
});

test("a payment on another day, which a restored store may have forgotten, is a person's to judge: it ends no bill", async ({
  world,
}) => {
  const planned = await world.approvedRun([{}]);
  const { runId, payableId } = planned;
  const { store, businessId } = world;
  const { serviceMs, businessMs } = await world.context().clockOf("acme").now();
  await store.transaction((trx) =>
    holdForLoss(trx, { businessId, evidence: "a test", hadItAtMs: 1, serviceMs, businessMs }),
  );
  await world.assess(runId);
  const { executionDate } = await world.line(runId, payableId);
  const { payments } = world.context().clientOf("acme");
  const source = { paymentRail: "SERVICE", fundingSource: "balance" } as const;
  const otherDay = { payableId, ...source, scheduledAt: addBankingDays(executionDate, 1) };
  await payments.create(otherDay, { idempotencyKey: randomUUID() });
  await world.world.pass(2 * 3_600_000);
  await world.control.advance("P14D");
  await heard(world, planned);
  expect((await world.line(runId, payableId)).state).toBe("on-hold");
  expect(await isClaimed(world, payableId)).toBe(true);
});

test("of many bills that wait, only those that the list doesn't show as unpaid are read by themselves", async ({
  world,
}) => {
  const bills = Array.from({ length: 30 }, () => ({}));
  const { runId, payableIds } = await world.plannedRun(bills);
  const [paid = "", voided = ""] = payableIds;
  await world.control.payOutside(paid);
  await world.control.changePayable(voided, { status: "void" });
  await world.assess(runId);
  const read: string[] = [];
  const { payables } = world.context().clientOf("acme");
  world.override = {
    getPayable: (id, options) => {
      read.push(id);
      return payables.get(id, options);
    },
  };
  expect(await world.follow(runId)).toBe(2);
  expect(read.toSorted()).toEqual([paid, voided].toSorted());
  await world.assess(runId);
  const counts = await countLines(world.store.db, runId);
  expect(Object.fromEntries([...counts].map(([state, { count }]) => [state, count]))).toEqual({
    "awaiting-approval": 28,
    "paid-elsewhere": 1,
    parked: 1,
  });
  expect((await getRun(world.store.db, runId))?.phase).toBe("awaiting-approval");
});
