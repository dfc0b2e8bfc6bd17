import { describe, expect } from "vitest";
import { retryFailedPaymentId } from "../../../src/contracts/workflow-kinds.ts";
import type { PayRule } from "../../../src/contracts/playbook.ts";
import { holdForLoss } from "../../../src/store/janitor/behind.ts";
import { claimOwners, handOverClaim } from "../../../src/store/payables/claims.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { requestRetry } from "../../../src/store/retries/retries.ts";
import { test } from "../bounce-scene.ts";
import type { MoneyWorld, PlannedBills } from "../money-world.ts";
import { POLICY } from "../planning-world.ts";

/** Does what `resolve --retry` does in the store. */
async function ask(world: MoneyWorld, { runId, payableId }: PlannedBills): Promise<void> {
  const { store, businessId } = world;
  const workflowId = retryFailedPaymentId("acme", payableId);
  await handOverClaim(store.db, { businessId, payableId, from: runId, to: workflowId });
  const asked = { businessId, payableId, business: "acme", workflowId, runId };
  const request = { ...asked, by: "carla", nowMs: Date.now() };
  await store.transaction((trx) => requestRetry(trx, request));
}

describe("a return that either side's account could have caused", () => {
  /**
   * Pays bills of two vendors from our bank account; the second fails with `second`, or settles.
   */
  async function twoVendors(world: MoneyWorld, second: string | null): Promise<PlannedBills> {
    const pay: PayRule = { ...POLICY.pay, from: "bank_main" };
    const planned = await world.approvedRun([{}, { contactId: "v2" }], { pay });
    for (const [index, code] of ["R02", second].entries()) {
      const match = { payableId: planned.payableIds[index] ?? "" };
      if (code !== null) await world.control.outcome({ match, outcome: "fail", code, times: 1 });
    }
    await world.pay(planned.runId);
    return planned;
  }

  test("a return that other vendors share becomes one incident of our account, and holds no vendor", async ({
    world,
  }) => {
    const { runId, payableIds } = await twoVendors(world, "R02");
    await world.control.advance("P9D");
    await world.follow(runId);
    const [first = "", second = ""] = payableIds;
    expect((await world.look(first)).phase).toBe("parked");
    expect(await world.holds()).toMatchObject([{ scope: "contact", value: "v1" }]);
    expect(await world.look(second)).toMatchObject({
      phase: "waiting",
      waitingFor: expect.stringMatching(/one decision/),
    });
    expect(await world.look(first)).toMatchObject({
      phase: "waiting",
      waitingFor: expect.stringMatching(/one decision/),
    });
    expect(await world.holds()).toMatchObject([{ scope: "source", value: "bank_main" }]);
    expect(await world.incident("bank_main")).toMatchObject({
      details: expect.stringMatching(/Bills that wait: 2/),
    });
    await world.decideIncident("bank_main", "released");
    for (const payableId of payableIds) {
      expect(await world.look(payableId)).toMatchObject({ outcome: "left to the next run" });
      expect((await world.line(runId, payableId)).reason).toMatch(/R02.*new approval/);
      expect(await world.paymentsOf(payableId)).toHaveLength(1);
    }
    expect((await claimOwners(world.store.db, world.businessId, payableIds)).size).toBe(0);
  });

  test("a return is put to a person until other payments of its day settle, which blames the vendor", async ({
    world,
  }) => {
    const { runId, payableIds } = await twoVendors(world, null);
    const [first = ""] = payableIds;
    // It fails after one banking day; the other payments settle after two.
    await world.control.advance("P5D");
    await untilFailed(world, first);
    await world.follow(runId);
    await world.store.db
      .updateTable("run_lines")
      .set({ state: "processing" })
      .where("state", "=", "settled")
      .execute();
    expect((await world.look(first)).phase).toBe("parked");
    expect((await world.line(runId, first)).reason).toMatch(/check both/);
    await world.control.advance("P5D");
    await world.follow(runId);
    expect((await world.look(first)).phase).toBe("parked");
    expect((await world.line(runId, first)).reason).not.toMatch(/check both/);
    expect(await world.holds()).toMatchObject([{ scope: "contact", value: "v1" }]);
  });

  async function untilFailed(world: MoneyWorld, payableId: string): Promise<void> {
    for (let days = 0; days < 9; days += 1) {
      const [payment] = await world.paymentsOf(payableId);
      if (payment?.status === "failed") return;
      await world.control.advance("P1D");
    }
  }
});

describe("a payment that the vendor's bank returns", () => {
  test("a return holds the vendor, and needs a new approval once the account has changed", async ({
    scene,
    world,
  }) => {
    const planned = await scene.failedRun(["R03"]);
    const { runId, payableId } = planned;
    expect(await world.holds()).toMatchObject([{ scope: "contact", value: "v1" }]);
    expect((await world.look(payableId)).phase).toBe("parked");
    await world.control.changeContact("v1", { bankAccount: { accountNumber: "00007777" } });
    expect((await world.look(payableId)).phase).toBe("parked");
    expect((await world.line(runId, payableId)).reason).toMatch(/••7777 now, it was ••1111/);
    const notices = await listNotices(world.store.db, {
      kind: "bank-account-changed",
      limit: 10,
    });
    expect(notices).toMatchObject([{ roles: ["controller"], data: { payableId } }]);
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
    await ask(world, planned);
    expect((await world.look(payableId)).outcome).toBe("left to the next run");
    expect((await world.line(runId, payableId)).reason).toMatch(/R03 ends its approval/);
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
    expect(await world.holds()).toEqual([]);
  });

  test("a returned bill is given up after the playbook's time, with a hold and a notice", async ({
    scene,
    world,
  }) => {
    const { runId, payableId } = await scene.failedRun(["R10"]);
    await world.control.advance("P31D");
    expect((await world.look(payableId)).phase).toBe("parked");
    await world.store.db
      .updateTable("retry_cases")
      .set({ failed_real_ms: Date.now() - 61_000 })
      .where("payable_id", "=", payableId)
      .execute();
    expect(await world.look(payableId)).toMatchObject({
      phase: "ended",
      outcome: "given up",
    });
    expect((await world.line(runId, payableId)).state).toBe("given-up");
    expect(await world.holds()).toMatchObject([{ scope: "payable", value: payableId }]);
    const notices = await listNotices(world.store.db, { kind: "given-up", limit: 10 });
    expect(notices).toMatchObject([{ roles: ["controller"], data: { payableId } }]);
  });
});

test("bills that are given up together are one notice, with a hold for each", async ({
  scene,
  world,
}) => {
  const { payableIds } = await scene.failedRun(["R06", "R17"]);
  await world.control.advance("P31D");
  await world.store.db
    .updateTable("retry_cases")
    .set({ failed_real_ms: Date.now() - 61_000 })
    .execute();
  for (const payableId of payableIds) {
    expect(await world.look(payableId)).toMatchObject({ outcome: "given up" });
  }
  const notices = await listNotices(world.store.db, { kind: "given-up", limit: 10 });
  expect(notices).toMatchObject([
    { subject: "2 bills are given up: $200.00 stay unpaid", data: { amountCents: 20_000 } },
  ]);
  for (const payableId of payableIds) expect(notices[0]?.text).toContain(payableId);
  const held = (await world.holds()).map(({ value }) => value);
  expect(held.toSorted()).toEqual(payableIds.toSorted());
});

test("a person's retry of a bounce 180 days after its payment is left to the next run", async ({
  scene,
  world,
}) => {
  const planned = await scene.failedRun(["R01"]);
  await world.decideIncident(await scene.sourceOf(planned), "released");
  await world.control.advance("P200D");
  expect((await world.look(planned.payableId)).phase).toBe("parked");
  await ask(world, planned);
  expect((await world.look(planned.payableId)).phase).toBe("ended");
  expect(await world.line(planned.runId, planned.payableId)).toMatchObject({
    state: "parked",
    reasonCode: "retries_used_up",
    reason: expect.stringMatching(/180 days/),
  });
});

describe("an external payment that fails", () => {
  async function paidElsewhere(world: MoneyWorld): Promise<string> {
    const { id } = await world.control.createPayable({
      contactId: "v2",
      status: "approved",
      totalAmountCents: 7_000,
      dueDate: new Date(Date.now() + 8 * 86_400_000).toISOString().slice(0, 10),
    });
    await world.control.outcome({ match: { payableId: id }, outcome: "fail", code: "R09" });
    const { status } = await world.world.sandbox.api("POST", "/v1/payments", {
      key: `by-hand-${id.slice(-40)}`,
      body: { payableId: id, paymentRail: "SERVICE", fundingSource: "balance" },
    });
    expect(status).toBe(201);
    await world.control.advance("P5D");
    return id;
  }

  test("a failed external payment is left alone unless a playbook looks after all payments", async ({
    world,
  }) => {
    expect(await world.look(await paidElsewhere(world))).toMatchObject({
      phase: "ended",
      outcome: "Payrun has not paid it",
    });
    expect(await world.holds()).toEqual([]);
  });

  test("a failed payment that a restored store may have forgotten causes one notice", async ({
    world,
  }) => {
    const payableId = await paidElsewhere(world);
    const { serviceMs, businessMs } = await world.context().clockOf("acme").now();
    const loss = {
      businessId: world.businessId,
      evidence: "a test",
      hadItAtMs: 1,
      serviceMs,
      businessMs,
    };
    await world.store.transaction((trx) => holdForLoss(trx, loss));
    for (let looks = 0; looks < 2; looks += 1) {
      expect(await world.look(payableId)).toMatchObject({
        phase: "ended",
        outcome: "the store has no record of its payment; people were notified",
      });
    }
    const kind = "payment-not-on-record";
    expect(await listNotices(world.store.db, { kind, limit: 10 })).toMatchObject([
      { roles: ["operator"], data: { payments: [{ payableId, contactId: "v2" }] } },
    ]);
  });

  test("a failed external payment pauses the account and causes one notice, and is not paid again", async ({
    world,
  }) => {
    await world.failurePlaybook(
      "kind: retry-failed\nevents: [payable.payment.failed, payable.payment.reversed]\n",
    );
    const payableId = await paidElsewhere(world);
    for (let looks = 0; looks < 2; looks += 1) {
      expect(await world.look(payableId)).toMatchObject({
        phase: "ended",
        outcome: "people were notified; the next run asks for an approval",
      });
    }
    expect(await world.holds()).toMatchObject([{ scope: "source", value: "balance" }]);
    const notices = await listNotices(world.store.db, {
      kind: "payment-failed-elsewhere",
      limit: 10,
    });
    expect(notices).toMatchObject([{ data: { payableId } }]);
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
    expect((await claimOwners(world.store.db, world.businessId, [payableId])).size).toBe(0);
  });
});
