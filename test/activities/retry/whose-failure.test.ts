import { describe, expect, test } from "vitest";
import { retryFailedPaymentId } from "../../../src/contracts/names.ts";
import type { PayRule } from "../../../src/contracts/playbook.ts";
import { claimOwners, handOverClaim } from "../../../src/store/payables/claims.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { requestRetry } from "../../../src/store/retries/retries.ts";
import { bounceScene } from "../bounce-scene.ts";
import type { PlannedBills } from "../money-world.ts";
import { POLICY } from "../planning-world.ts";

const scene = bounceScene();

/** Does what `resolve --retry` does in the store. */
async function ask({ runId, payableId }: PlannedBills): Promise<void> {
  const { store, businessId } = scene.world;
  const workflowId = retryFailedPaymentId("acme", payableId);
  await handOverClaim(store.db, { businessId, payableId, from: runId, to: workflowId });
  const asked = { businessId, payableId, business: "acme", workflowId, runId };
  const request = { ...asked, by: "carla", nowMs: Date.now() };
  await store.transaction((trx) => requestRetry(trx, request));
}

describe("a return that could be about either side's account", () => {
  /** Bills of two vendors, paid from a bank account of ours; the second fails as said, or settles. */
  async function twoVendors(second: string | null): Promise<PlannedBills> {
    const pay: PayRule = { ...POLICY.pay, from: "bank_main" };
    const planned = await scene.world.approvedRun([{}, { contactId: "v2" }], { pay });
    for (const [index, code] of ["R02", second].entries()) {
      const match = { payableId: planned.payableIds[index] ?? "" };
      if (code !== null)
        await scene.world.control.outcome({ match, outcome: "fail", code, times: 1 });
    }
    await scene.world.pay(planned.runId);
    return planned;
  }

  test("is our account's where other vendors' came back too: one incident, no vendor held, nothing tried again", async () => {
    const { runId, payableIds } = await twoVendors("R02");
    await scene.world.control.advance("P9D");
    await scene.world.follow(runId);
    const [first = "", second = ""] = payableIds;
    expect((await scene.world.look(first)).phase).toBe("parked");
    expect(await scene.world.holds()).toMatchObject([{ scope: "contact", value: "v1" }]);
    expect(await scene.world.look(second)).toMatchObject({
      phase: "waiting",
      waitingFor: expect.stringMatching(/one decision/),
    });
    expect(await scene.world.look(first)).toMatchObject({
      phase: "waiting",
      waitingFor: expect.stringMatching(/one decision/),
    });
    expect(await scene.world.holds()).toMatchObject([{ scope: "source", value: "bank_main" }]);
    expect(await scene.world.incident("bank_main")).toMatchObject({
      details: expect.stringMatching(/Bills that wait: 2/),
    });
    await scene.world.decideIncident("bank_main", "released");
    for (const payableId of payableIds) {
      expect(await scene.world.look(payableId)).toMatchObject({ outcome: "left to the next run" });
      expect((await scene.world.line(runId, payableId)).reason).toMatch(/R02.*new approval/);
      expect(await scene.world.paymentsOf(payableId)).toHaveLength(1);
    }
    expect((await claimOwners(scene.world.store.db, scene.world.businessId, payableIds)).size).toBe(
      0,
    );
  });

  test("is asked about until others of the day have gone through, which makes it the vendor's", async () => {
    const { runId, payableIds } = await twoVendors(null);
    const [first = ""] = payableIds;
    // It fails after one banking day; the others settle after two.
    await scene.world.control.advance("P5D");
    await untilFailed(first);
    await scene.world.follow(runId);
    await scene.world.store.db
      .updateTable("run_lines")
      .set({ state: "processing" })
      .where("state", "=", "settled")
      .execute();
    expect((await scene.world.look(first)).phase).toBe("parked");
    expect((await scene.world.line(runId, first)).reason).toMatch(/check both/);
    await scene.world.control.advance("P5D");
    await scene.world.follow(runId);
    expect((await scene.world.look(first)).phase).toBe("parked");
    expect((await scene.world.line(runId, first)).reason).not.toMatch(/check both/);
    expect(await scene.world.holds()).toMatchObject([{ scope: "contact", value: "v1" }]);
  });

  async function untilFailed(payableId: string): Promise<void> {
    for (let days = 0; days < 9; days += 1) {
      const [payment] = await scene.world.paymentsOf(payableId);
      if (payment?.status === "failed") return;
      await scene.world.control.advance("P1D");
    }
  }
});

describe("a payment that the vendor's bank sends back", () => {
  test("holds the vendor, and goes back to a new approval once the account has changed", async () => {
    const planned = await scene.failedRun(["R03"]);
    const { runId, payableId } = planned;
    expect(await scene.world.holds()).toMatchObject([{ scope: "contact", value: "v1" }]);
    expect((await scene.world.look(payableId)).phase).toBe("parked");
    await scene.world.control.changeContact("v1", { bankAccount: { accountNumber: "00007777" } });
    expect((await scene.world.look(payableId)).phase).toBe("parked");
    expect((await scene.world.line(runId, payableId)).reason).toMatch(/••7777 now, it was ••1111/);
    const notices = await listNotices(scene.world.store.db, {
      kind: "bank-account-changed",
      limit: 10,
    });
    expect(notices).toMatchObject([{ roles: ["controller"], data: { payableId } }]);
    expect(await scene.world.paymentsOf(payableId)).toHaveLength(1);
    await ask(planned);
    expect((await scene.world.look(payableId)).outcome).toBe("left to the next run");
    expect((await scene.world.line(runId, payableId)).reason).toMatch(/R03 ends its approval/);
    expect(await scene.world.paymentsOf(payableId)).toHaveLength(1);
    expect(await scene.world.holds()).toEqual([]);
  });

  test("is given up after the playbook's time, with a hold on the bill and a notice", async () => {
    const { runId, payableId } = await scene.failedRun(["R10"]);
    await scene.world.control.advance("P31D");
    expect((await scene.world.look(payableId)).phase).toBe("parked");
    await scene.world.store.db
      .updateTable("retry_cases")
      .set({ failed_real_ms: Date.now() - 61_000 })
      .where("payable_id", "=", payableId)
      .execute();
    expect(await scene.world.look(payableId)).toMatchObject({
      phase: "ended",
      outcome: "given up",
    });
    expect((await scene.world.line(runId, payableId)).state).toBe("given-up");
    expect(await scene.world.holds()).toMatchObject([{ scope: "payable", value: payableId }]);
    const notices = await listNotices(scene.world.store.db, { kind: "given-up", limit: 10 });
    expect(notices).toMatchObject([{ roles: ["controller"], data: { payableId } }]);
  });
});

test("a person's retry of a bounce 180 days after its payment is left to the next run", async () => {
  const planned = await scene.failedRun(["R01"]);
  await scene.world.decideIncident(await scene.sourceOf(planned), "released");
  await scene.world.control.advance("P200D");
  expect((await scene.world.look(planned.payableId)).phase).toBe("parked");
  await ask(planned);
  expect((await scene.world.look(planned.payableId)).phase).toBe("ended");
  expect(await scene.world.line(planned.runId, planned.payableId)).toMatchObject({
    state: "parked",
    reasonCode: "retries-used-up",
    reason: expect.stringMatching(/180 days/),
  });
});

describe("a payment that was made elsewhere and fails", () => {
  async function paidElsewhere(): Promise<string> {
    const { id } = await scene.world.control.createPayable({
      contactId: "v2",
      status: "approved",
      totalAmountCents: 7_000,
      dueDate: new Date(Date.now() + 8 * 86_400_000).toISOString().slice(0, 10),
    });
    await scene.world.control.outcome({ match: { payableId: id }, outcome: "fail", code: "R09" });
    const { status } = await scene.world.world.sandbox.api("POST", "/v1/payments", {
      key: `by-hand-${id.slice(-40)}`,
      body: { payableId: id, paymentRail: "SERVICE", fundingSource: "balance" },
    });
    expect(status).toBe(201);
    await scene.world.control.advance("P5D");
    return id;
  }

  test("is left alone, unless a playbook looks after all payments", async () => {
    expect(await scene.world.look(await paidElsewhere())).toMatchObject({
      phase: "ended",
      outcome: "Payrun has not paid it",
    });
    expect(await scene.world.holds()).toEqual([]);
  });

  test("pauses the account and is told of once, and nothing is paid again", async () => {
    await scene.world.failurePlaybook(
      "kind: retry-failed\nevents: [payable.payment.failed, payable.payment.reversed]\n",
    );
    const payableId = await paidElsewhere();
    for (let looks = 0; looks < 2; looks += 1) {
      expect(await scene.world.look(payableId)).toMatchObject({
        phase: "ended",
        outcome: "told of; the next run asks for an approval",
      });
    }
    expect(await scene.world.holds()).toMatchObject([{ scope: "source", value: "balance" }]);
    const notices = await listNotices(scene.world.store.db, {
      kind: "payment-failed-elsewhere",
      limit: 10,
    });
    expect(notices).toMatchObject([{ data: { payableId } }]);
    expect(await scene.world.paymentsOf(payableId)).toHaveLength(1);
    expect(
      (await claimOwners(scene.world.store.db, scene.world.businessId, [payableId])).size,
    ).toBe(0);
  });
});
