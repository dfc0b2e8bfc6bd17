import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fundingIncidentId, retryFailedPaymentId } from "../../src/contracts/names.ts";
import type { PayRule } from "../../src/contracts/playbook.ts";
import { claimOwners, handOverClaim } from "../../src/store/claims.ts";
import { releaseHold } from "../../src/store/holds.ts";
import { getIncident } from "../../src/store/incidents.ts";
import { listNotices } from "../../src/store/notices.ts";
import { requestRetry } from "../../src/store/retries.ts";
import { explainIn } from "./explain.ts";
import { MoneyWorld, type PlannedBills } from "./money-world.ts";
import { POLICY } from "./planning-world.ts";

let world: MoneyWorld;

beforeAll(async () => {
  world = await MoneyWorld.start();
  // Its default rules: a bounce pauses the account, a vendor's return holds the vendor.
  await world.failurePlaybook("kind: retry-failed\n");
});
afterAll(async () => {
  await world.stop();
});
beforeEach(async () => {
  await world.world.reset();
  world.told.length = 0;
  world.override = {};
  await world.store.db.deleteFrom("holds").execute();
  await world.store.db.deleteFrom("incidents").execute();
  world.achAuthorization = { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" };
});

/** A run all of whose payments failed, handed to their retries, which have looked once. */
async function failedRun(codes: readonly string[], sameVendor = false): Promise<PlannedBills> {
  const bills = codes.map((_, index) => ({ contactId: sameVendor || index === 0 ? "v1" : "v2" }));
  const planned = await world.approvedRun(bills);
  const { payableIds, runId } = planned;
  for (const [index, code] of codes.entries()) {
    const match = { payableId: payableIds[index] ?? "" };
    await world.control.outcome({ match, outcome: "fail", code, times: 1 });
  }
  await world.pay(runId);
  await world.control.advance("P9D");
  expect(await world.follow(runId)).toBe(codes.length);
  for (const payableId of payableIds) await world.look(payableId);
  return planned;
}

async function sourceOf({ runId, payableId }: PlannedBills): Promise<string> {
  return (await world.line(runId, payableId)).sourceId;
}

/** Does what `resolve --retry` does in the store. */
async function ask({ runId, payableId }: PlannedBills): Promise<void> {
  const { store, businessId } = world;
  const workflowId = retryFailedPaymentId("acme", payableId);
  await handOverClaim(store.db, { businessId, payableId, from: runId, to: workflowId });
  const asked = { businessId, payableId, business: "acme", workflowId, runId };
  await requestRetry(store.db, { ...asked, by: "carla", nowMs: Date.now() });
}

describe("payments that bounce because our own account is empty", () => {
  test("are one incident with one hold and one notice, and nothing is tried meanwhile", async () => {
    const planned = await failedRun(["R01", "R01", "R09"]);
    const sourceId = await sourceOf(planned);
    expect(await world.holds()).toMatchObject([
      { scope: "source", value: sourceId, author: fundingIncidentId("acme", sourceId) },
    ]);
    const notices = await listNotices(world.store.db, { kind: "incident", limit: 10 });
    expect(notices.filter(({ data }) => data["sourceId"] === sourceId)).toHaveLength(1);
    expect(world.told).toContain(fundingIncidentId("acme", sourceId));
    await world.control.advance("P4D");
    for (const payableId of planned.payableIds) {
      expect(await world.look(payableId)).toMatchObject({
        phase: "waiting",
        waitingFor: expect.stringMatching(/one decision/),
      });
      expect(await world.paymentsOf(payableId)).toHaveLength(1);
    }
    expect(await world.incident(sourceId)).toMatchObject({
      phase: "open",
      waitingFor: expect.stringMatching(/a decision of controller/),
      details: expect.stringMatching(/Bills that wait: 3, \$300\.00/),
    });
  });

  test("are each paid once after the one release", async () => {
    const planned = await failedRun(["R01", "R01"]);
    const sourceId = await sourceOf(planned);
    world.told.length = 0;
    const [hold] = await world.holds();
    await world.store.transaction((trx) =>
      releaseHold(trx, hold?.holdId ?? "", "carla", Date.now()),
    );
    expect(await world.incident(sourceId)).toMatchObject({
      phase: "ended",
      outcome: "released by carla",
    });
    expect(world.told).toEqual(
      planned.payableIds.toSorted().map((id) => retryFailedPaymentId("acme", id)),
    );
    for (const payableId of planned.payableIds) {
      expect((await world.look(payableId)).phase).toBe("pay");
      await world.retry(payableId);
      expect((await world.look(payableId)).phase).toBe("following");
      expect(await world.paymentsOf(payableId)).toHaveLength(2);
      const { history, text } = await explainIn(world, payableId);
      const decided = history.timeline.filter(({ kind }) => kind === "incident");
      expect(decided).toMatchObject([
        { text: "Its funding account is held for everybody (R01)" },
        { text: expect.stringMatching(/^Its funding account was released/), by: "carla" },
      ]);
      expect(text).toContain("Its funding account was released");
    }
    expect(await world.holds()).toEqual([]);
  });

  test("go back to the next run where somebody wants another account, which stays held", async () => {
    const planned = await failedRun(["R09"]);
    const sourceId = await sourceOf(planned);
    await world.decideIncident(sourceId, "other-source");
    expect((await world.look(planned.payableId)).phase).toBe("ended");
    expect(await world.line(planned.runId, planned.payableId)).toMatchObject({
      state: "parked",
      reasonCode: "other-source",
    });
    const owners = await claimOwners(world.store.db, world.businessId, [planned.payableId]);
    expect(owners.size).toBe(0);
    expect(await world.holds()).toMatchObject([{ scope: "source", value: sourceId }]);
  });

  test("open the incident again where they bounce once more after the release", async () => {
    const planned = await failedRun(["R01"]);
    const sourceId = await sourceOf(planned);
    await world.decideIncident(sourceId, "released");
    const { payableId } = planned;
    await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R01", times: 1 });
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    await world.control.advance("P9D");
    expect((await world.look(payableId)).phase).toBe("waiting");
    const again = await getIncident(world.store.db, world.businessId, sourceId);
    expect(again).toMatchObject({ round: 2, phase: "open" });
    expect(await world.holds()).toHaveLength(1);
  });

  test("are free of every hold of the account once it is released, also of one from before", async () => {
    // Paid before the account was held, and back after somebody has decided.
    const later = await world.approvedRun([{}], { late: "next-business-day" });
    const first = await failedRun(["R01"]);
    const sourceId = await sourceOf(first);
    await world.store.db.updateTable("holds").set({ released_at_ms: 1 }).execute();
    await world.control.outcome({
      match: { payableId: later.payableId },
      outcome: "fail",
      code: "R01",
      times: 1,
    });
    await world.pay(later.runId);
    await world.store.db.updateTable("holds").set({ released_at_ms: null }).execute();
    await world.decideIncident(sourceId, "other-source");
    await world.control.advance("P9D");
    await world.follow(later.runId);
    await world.look(later.payableId);
    expect(await world.holds()).toHaveLength(2);
    await world.decideIncident(sourceId, "released");
    expect(await world.holds()).toEqual([]);
  });
});

describe("a return that could be about either side's account", () => {
  /** Bills of two vendors, paid from a bank account of ours; the second fails as said, or settles. */
  async function twoVendors(second: string | null): Promise<PlannedBills> {
    const pay: PayRule = { ...POLICY.pay, from: "bank_main" };
    const planned = await world.approvedRun([{}, { contactId: "v2" }], { pay });
    for (const [index, code] of ["R02", second].entries()) {
      const match = { payableId: planned.payableIds[index] ?? "" };
      if (code !== null) await world.control.outcome({ match, outcome: "fail", code, times: 1 });
    }
    await world.pay(planned.runId);
    return planned;
  }

  test("is our account's where other vendors' came back too: one incident, no vendor held, nothing tried again", async () => {
    const { runId, payableIds } = await twoVendors("R02");
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

  test("is asked about until others of the day have gone through, which makes it the vendor's", async () => {
    const { runId, payableIds } = await twoVendors(null);
    const [first = ""] = payableIds;
    // It fails after one banking day; the others settle after two.
    await world.control.advance("P5D");
    await untilFailed(first);
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

  async function untilFailed(payableId: string): Promise<void> {
    for (let days = 0; days < 9; days += 1) {
      const [payment] = await world.paymentsOf(payableId);
      if (payment?.status === "failed") return;
      await world.control.advance("P1D");
    }
  }
});

describe("a payment that the vendor's bank sends back", () => {
  test("holds the vendor, and goes back to a new approval once the account has changed", async () => {
    const planned = await failedRun(["R03"]);
    const { runId, payableId } = planned;
    expect(await world.holds()).toMatchObject([{ scope: "contact", value: "v1" }]);
    expect((await world.look(payableId)).phase).toBe("parked");
    await world.control.changeContact("v1", { bankAccount: { accountNumber: "00007777" } });
    expect((await world.look(payableId)).phase).toBe("parked");
    expect((await world.line(runId, payableId)).reason).toMatch(/••7777 now, it was ••1111/);
    const notices = await listNotices(world.store.db, { kind: "bank-account-changed", limit: 10 });
    expect(notices).toMatchObject([{ roles: ["controller"], data: { payableId } }]);
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
    await ask(planned);
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    expect((await world.look(payableId)).phase).toBe("ended");
    expect((await world.line(runId, payableId)).reasonCode).toBe("changed-since-approval");
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
    expect(await world.holds()).toEqual([]);
  });

  test("is given up after the playbook's time, with a hold on the bill and a notice", async () => {
    const { runId, payableId } = await failedRun(["R10"]);
    await world.control.advance("P31D");
    expect((await world.look(payableId)).phase).toBe("parked");
    await world.store.db
      .updateTable("retry_cases")
      .set({ failed_real_ms: Date.now() - 61_000 })
      .where("payable_id", "=", payableId)
      .execute();
    expect(await world.look(payableId)).toMatchObject({ phase: "ended", outcome: "given up" });
    expect((await world.line(runId, payableId)).state).toBe("given-up");
    expect(await world.holds()).toMatchObject([{ scope: "payable", value: payableId }]);
    const notices = await listNotices(world.store.db, { kind: "given-up", limit: 10 });
    expect(notices).toMatchObject([{ roles: ["controller"], data: { payableId } }]);
  });
});

test("a person's retry of a bounce 180 days after its payment is left to the next run", async () => {
  const planned = await failedRun(["R01"]);
  await world.decideIncident(await sourceOf(planned), "released");
  await world.control.advance("P200D");
  expect((await world.look(planned.payableId)).phase).toBe("parked");
  await ask(planned);
  expect((await world.look(planned.payableId)).phase).toBe("ended");
  expect(await world.line(planned.runId, planned.payableId)).toMatchObject({
    state: "parked",
    reasonCode: "retries-used-up",
    reason: expect.stringMatching(/180 days/),
  });
});

describe("a payment that was made elsewhere and fails", () => {
  async function paidElsewhere(): Promise<string> {
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

  test("is left alone, unless a playbook looks after all payments", async () => {
    expect(await world.look(await paidElsewhere())).toMatchObject({
      phase: "ended",
      outcome: "Payrun has not paid it",
    });
    expect(await world.holds()).toEqual([]);
  });

  test("pauses the account and is told of once, and nothing is paid again", async () => {
    await world.failurePlaybook("kind: retry-failed\npayments: all\n");
    const payableId = await paidElsewhere();
    for (let looks = 0; looks < 2; looks += 1) {
      expect(await world.look(payableId)).toMatchObject({
        phase: "ended",
        outcome: "told of; the next run asks for an approval",
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
