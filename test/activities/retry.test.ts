import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openRetryCase } from "../../activities/retry/retry-case.ts";
import { retryFailedPaymentId } from "../../src/contracts/names.ts";
import type { PayLimits } from "../../src/contracts/playbook.ts";
import { attemptsOf } from "../../src/store/attempts.ts";
import { claimOwners, handOverClaim } from "../../src/store/claims.ts";
import { createHold } from "../../src/store/holds.ts";
import { changeLine } from "../../src/store/lines.ts";
import { requestRetry, updateRetry } from "../../src/store/retries.ts";
import { listWaits } from "../../src/store/waits.ts";
import { flagLooks } from "../../src/store/watches.ts";
import { NEXT_DAY_RETRIES } from "../support/next-day-retries.ts";
import { netCreditByPayable } from "../support/sandbox.ts";
import { MoneyWorld, type PlannedBills } from "./money-world.ts";

let world: MoneyWorld;

beforeAll(async () => {
  world = await MoneyWorld.start();
  await world.failurePlaybook(NEXT_DAY_RETRIES);
});
afterAll(async () => {
  await world.stop();
});
beforeEach(async () => {
  await world.world.reset();
  world.told.length = 0;
  world.override = {};
});

/** A bill whose first payment failed, as the bank's return code says, and what to expect of it. */
async function failedBill(code = "R01", partCents: number | null = null): Promise<PlannedBills> {
  const planned = await world.plannedRun([{}], {}, partCents);
  await world.approve(planned.runId);
  const { runId, payableId } = planned;
  await world.control.outcome({ match: { payableId }, outcome: "fail", code, times: 1 });
  await world.pay(runId);
  await world.control.advance("P9D");
  expect(await world.follow(runId)).toBe(1);
  expect(world.told).toContain(retryFailedPaymentId("acme", payableId));
  expect((await world.look(payableId)).phase).toBe(code === "R01" ? "waiting" : "parked");
  await world.control.advance("P4D");
  return planned;
}

describe("a retry", () => {
  test("is paid once on its day", async () => {
    const { runId, payableId } = await failedBill();
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    expect((await world.look(payableId)).phase).toBe("following");
    expect(await world.line(runId, payableId)).toMatchObject({ state: "retrying" });
    expect(await world.paymentsOf(payableId)).toHaveLength(2);
  });

  test("of a part that was paid off-cycle is for that part, never for the whole bill", async () => {
    const { runId, payableId } = await failedBill("R01", 4_000);
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    const { payments } = world.context().clientOf("acme");
    const amounts = (await payments.listAll({ payableId })).map(({ amountCents }) => amountCents);
    expect(amounts).toEqual([4_000, 4_000]);
    await world.control.advance("P9D");
    expect((await world.look(payableId)).phase).toBe("ended");
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "settled",
      amountCents: 4_000,
    });
    const net = netCreditByPayable(await world.control.ledger());
    expect(net.get(payableId)).toBe(4_000);
  });

  test("that a person asks for is for that part as well", async () => {
    const { runId, payableId } = await failedBill("R08", 4_000);
    await ask(runId, payableId);
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    const { payments } = world.context().clientOf("acme");
    const amounts = (await payments.listAll({ payableId })).map(({ amountCents }) => amountCents);
    expect(amounts).toEqual([4_000, 4_000]);
  });

  test("that Nacha's cap has used up is not made for a person either: the next run asks again", async () => {
    const { runId, payableId } = await failedBill();
    const { businessId } = world;
    await updateRetry(
      world.store.db,
      { businessId, payableId },
      { retriesMade: 2, phase: "parked" },
      Date.now(),
    );
    await ask(runId, payableId);
    expect((await world.look(payableId)).phase).toBe("ended");
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reasonCode: "retries-used-up",
    });
    expect(await claimOwners(world.store.db, businessId, [payableId])).toEqual(new Map());
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
  });

  test.each(["R05", "R07", "R10", "R29"])(
    "of what came back as unauthorised (%s) is made for nobody: the next run asks again",
    async (code) => {
      const { runId, payableId } = await failedBill(code);
      await ask(runId, payableId);
      expect(await world.look(payableId)).toMatchObject({ outcome: "left to the next run" });
      expect((await world.line(runId, payableId)).reason).toMatch(
        /takes the authorization .* back/,
      );
      expect(await world.paymentsOf(payableId)).toHaveLength(1);
    },
  );

  test("whose vendor can't be paid now rests until a later look, and stays its own", async () => {
    const { runId, payableId } = await failedBill();
    await world.control.changeContact("v1", { bankAccount: null });
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    const rest = await world.look(payableId);
    expect(rest.phase).toBe("waiting");
    expect(rest.wakeInMs).toBeGreaterThan(0);
    await world.assess(runId);
    expect((await world.line(runId, payableId)).state).toBe("retrying");
    await world.control.changeContact("v1", { bankAccount: { accountNumber: "00001111" } });
    await world.store.transaction((trx) =>
      flagLooks(trx, { businessId: world.businessId, payableIds: [payableId] }),
    );
    expect((await world.look(payableId)).phase).toBe("pay");
  });

  test("rests while a hold stops it, instead of trying again and again", async () => {
    const { payableId } = await failedBill();
    const { businessId } = world;
    const hold = { businessId, scope: "contact" as const, value: "v1", reason: "Call them first." };
    await world.store.transaction((trx) =>
      createHold(trx, { ...hold, author: "olga", untilMs: null, nowMs: Date.now() }),
    );
    const held = await world.look(payableId);
    expect(held).toMatchObject({
      phase: "waiting",
      waitingFor: expect.stringMatching(/Call them/),
    });
  });

  test("follows what it has paid, although the service doesn't show it yet", async () => {
    const { runId, payableId } = await failedBill();
    const before = await world.context().clientOf("acme").payments.listAll({ payableId });
    await world.look(payableId);
    await world.retry(payableId);
    world.override = { listAll: () => Promise.resolve(before) };
    const look = await world.look(payableId);
    expect(look.phase).toBe("following");
    expect(look.wakeInMs).toBeLessThan(5_000);
    expect((await world.line(runId, payableId)).state).toBe("retrying");
  });

  test("ends where the service doesn't know the bill any more, and says so", async () => {
    const { runId, payableId } = await failedBill();
    const client = world.context().clientOf("acme");
    world.override = { getPayable: () => client.payables.get("gone") };
    expect((await world.look(payableId)).phase).toBe("ended");
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reasonCode: "not-found",
    });
    expect((await claimOwners(world.store.db, world.businessId, [payableId])).size).toBe(0);
  });

  test("asks a locked business ever more rarely, and is paid when it is open again", async () => {
    const { payableId } = await failedBill();
    await world.control.changeBusiness({ paymentsLocked: true });
    const rests: number[] = [];
    for (let tries = 0; tries < 3; tries += 1) {
      expect((await world.look(payableId)).phase).toBe("pay");
      await world.retry(payableId);
      const { serviceMs } = await world.context().clockOf("acme").now();
      const [wait] = await listWaits(world.store.db, world.businessId);
      rests.push(Math.round(((wait?.retryAtMs ?? 0) - serviceMs) / 1_000));
      await world.control.advanceWire("PT1M");
    }
    expect(rests).toEqual([5, 10, 20]);
    await world.control.changeBusiness({ paymentsLocked: false });
    await world.look(payableId);
    await world.retry(payableId);
    expect(await world.paymentsOf(payableId)).toHaveLength(2);
    expect(await listWaits(world.store.db, world.businessId)).toEqual([]);
  });

  test("whose approval has expired is parked, and its bill is free for the next run", async () => {
    const { runId, payableId } = await failedBill();
    await world.store.db
      .updateTable("line_approvals")
      .set({ expires_at_ms: 1 })
      .where("payable_id", "=", payableId)
      .execute();
    await world.look(payableId);
    await world.retry(payableId);
    expect((await world.look(payableId)).phase).toBe("ended");
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reasonCode: "approval-expired",
    });
    expect((await claimOwners(world.store.db, world.businessId, [payableId])).size).toBe(0);
    expect((await world.look(payableId)).phase).toBe("ended");
    expect((await claimOwners(world.store.db, world.businessId, [payableId])).size).toBe(0);
  });

  test("whose bill has changed since its approval is left to the next run", async () => {
    const { runId, payableId } = await failedBill();
    await world.control.changeContact("v1", { bankAccount: { accountNumber: "00009999" } });
    await world.look(payableId);
    await world.retry(payableId);
    expect((await world.look(payableId)).phase).toBe("ended");
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reasonCode: "changed-since-approval",
    });
    expect((await claimOwners(world.store.db, world.businessId, [payableId])).size).toBe(0);
  });
});

describe("bills that wait for money", () => {
  test("are paid again one by one, as far as the money goes", async () => {
    await world.failurePlaybook(
      "kind: retry-failed\nrules: [{ match: [R01], retry: when-funds-arrive }]\n",
    );
    const planned = await world.approvedRun([{}, {}, {}], { late: "next-business-day" });
    const { runId, payableIds } = planned;
    for (const payableId of payableIds) {
      await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R01", times: 1 });
    }
    await world.pay(runId);
    await world.control.advance("P9D");
    await world.follow(runId);
    await world.control.changeBusiness({ balanceCents: 9_999 });
    const phases = async (): Promise<string[]> => {
      const looks = [];
      for (const payableId of payableIds) looks.push((await world.look(payableId)).phase);
      return looks;
    };
    expect(await phases()).toEqual(["waiting", "waiting", "waiting"]);
    // Enough for each alone, and for two of the three together.
    await world.control.changeBusiness({ balanceCents: 25_000 });
    const now = await phases();
    expect(now.toSorted()).toEqual(["pay", "pay", "waiting"]);
    for (const [index, payableId] of payableIds.entries()) {
      if (now[index] === "pay") await world.retry(payableId);
    }
    expect((await phases()).toSorted()).toEqual(["following", "following", "waiting"]);
    await world.control.changeBusiness({ balanceCents: 50_000 });
    expect((await phases()).toSorted()).toEqual(["following", "following", "pay"]);
    await world.failurePlaybook(NEXT_DAY_RETRIES);
  });
});

describe("an answer that is lost in a retry", () => {
  test("stays with the retry: no run draws the line meanwhile", async () => {
    const { runId, payableId } = await failedBill();
    await world.look(payableId);
    await world.control.faults([
      { method: "POST", path: "/v1/payables/*/retry-payment", when: "before", effect: "drop" },
      { method: "POST", path: "/v1/payments", when: "before", effect: "drop" },
    ]);
    await world.retry(payableId);
    expect(await attemptsOf(world.store.db, world.businessId, payableId)).toMatchObject([
      { state: "applied" },
      { state: "live" },
    ]);
    expect((await world.line(runId, payableId)).state).toBe("retrying");
    const rest = await world.look(payableId);
    expect(rest.phase).toBe("waiting");
    await world.control.faults();
    await world.control.advanceWire("PT1M");
    await world.pay(runId);
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    expect(await world.paymentsOf(payableId)).toHaveLength(2);
    expect((await world.look(payableId)).phase).toBe("following");
  });
});

describe("a person's retry of a bill that a limit kept from being sent", () => {
  async function parkedByLimit(limits: Partial<PayLimits>): Promise<PlannedBills> {
    const none = { billCents: null, vendorPerWeekCents: null, businessPerWeekCents: null };
    const planned = await world.approvedRun([{}, {}]);
    const { runId } = planned;
    const row = await world.store.db
      .selectFrom("runs")
      .select("policy")
      .where("run_id", "=", runId)
      .executeTakeFirstOrThrow();
    const policy = { ...JSON.parse(row.policy), limits: { ...none, ...limits } };
    await world.store.db
      .updateTable("runs")
      .set({ policy: JSON.stringify(policy) })
      .where("run_id", "=", runId)
      .execute();
    await world.pay(runId);
    return planned;
  }

  test("is parked again while the week is full, and pays in a week with room", async () => {
    const { runId, payableIds } = await parkedByLimit({ vendorPerWeekCents: 15_000 });
    const lines = await Promise.all(payableIds.map((id) => world.line(runId, id)));
    const payableId = lines.find(({ state }) => state === "parked")?.payableId ?? "";
    expect((await world.line(runId, payableId)).reasonCode).toBe("over-vendor-week-limit");
    await ask(runId, payableId);
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reasonCode: "over-vendor-week-limit",
    });
    expect(await world.paymentsOf(payableId)).toEqual([]);
    expect((await world.look(payableId)).phase).toBe("parked");
    await world.control.advance("P14D");
    await ask(runId, payableId);
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
  });
});

test("a person's retry of a bill above the limit for one bill is never sent", async () => {
  const limits = { billCents: 5_000, vendorPerWeekCents: null, businessPerWeekCents: null };
  const { runId, payableId } = await world.approvedRun([{}], { limits });
  await ask(runId, payableId);
  expect((await world.look(payableId)).phase).toBe("pay");
  await world.retry(payableId);
  expect(await world.line(runId, payableId)).toMatchObject({
    state: "parked",
    reasonCode: "over-bill-limit",
  });
  expect(await world.paymentsOf(payableId)).toEqual([]);
});

/** Does what `resolve --retry` does in the store. */
async function ask(runId: string, payableId: string): Promise<void> {
  const { store, businessId } = world;
  const workflowId = retryFailedPaymentId("acme", payableId);
  await handOverClaim(store.db, { businessId, payableId, from: runId, to: workflowId });
  const asked = { businessId, payableId, business: "acme", workflowId, runId };
  await requestRetry(store.db, { ...asked, by: "olga", nowMs: Date.now() });
}

describe("a person who ends a bill", () => {
  test("is not overruled by a look of the retry that began before", async () => {
    const { runId, payableId } = await failedBill("R03");
    const { store } = world;
    await ask(runId, payableId);
    const opened = await openRetryCase(world.context(), { business: "acme", payableId });
    await changeLine(store.db, { runId, payableId }, { state: "given-up" }, Date.now());
    if (opened.kind === "ours") await opened.case.setLine({ state: "retrying" });
    expect(opened.kind).toBe("ours");
    expect((await world.line(runId, payableId)).state).toBe("given-up");
  });
});
