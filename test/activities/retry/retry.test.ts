import { describe, expect } from "vitest";
import { claimOwners } from "../../../src/store/payables/claims.ts";
import { createHold, releaseHold } from "../../../src/store/holds/holds.ts";
import { openIncident } from "../../../src/store/incidents/incidents.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { listWaits, setWait } from "../../../src/store/runs/waits.ts";
import { getRetry } from "../../../src/store/retries/retries.ts";
import { reservedCents } from "../../../src/store/lines/reserved.ts";
import { flagLooks } from "../../../src/store/payables/subscriptions.ts";
import { netCreditByPayable } from "../../support/sandbox.ts";
import { explainIn } from "../explain.ts";
import { dueRetry, test } from "../retry-world.ts";

describe("a retry", () => {
  test("a retry is paid once, on its day", async ({ world }) => {
    const { runId, payableId } = await dueRetry(world);
    const { executionDate: planned } = await world.line(runId, payableId);
    const paysOn = async () => (await explainIn(world, payableId)).history.bill?.executionDate;
    const retry = await getRetry(world.store.db, world.businessId, payableId);
    expect(await paysOn()).toBe(retry?.retryOn);
    expect((await world.look(payableId)).phase).toBe("pay");
    const paid = await world.payAgain(payableId);
    const { executionDate } = await world.line(runId, payableId);
    expect(executionDate > planned).toBe(true);
    expect(await paysOn()).toBe(executionDate);
    expect(paid).toMatchObject({ phase: "following", waitingFor: "the new payment is scheduled" });
    // The payment's answer and the next look say the same.
    const looked = await world.look(payableId);
    expect(looked).toMatchObject({ phase: "following", soFar: paid.soFar, details: paid.details });
    expect(await world.line(runId, payableId)).toMatchObject({ state: "retrying" });
    expect(await world.paymentsOf(payableId)).toHaveLength(2);
  });

  test("a retry reserves its money only until the service has taken it, even on its payment's day", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
    const { businessId, store } = world;
    const { executionDate: today, sourceId } = await world.line(runId, payableId);
    const promised = (readAtMs?: number) => {
      const read = readAtMs === undefined ? {} : { readAtMs };
      return reservedCents(store.db, { businessId, sourceId, today, ...read });
    };
    await world.payAgain(payableId);
    await world.look(payableId);
    expect(await promised()).toBe(10_000);
    await expect
      .poll(async () => {
        await world.control.advance("PT6H");
        return (await world.paymentsOf(payableId)).map(({ status }) => status);
      })
      .toContain("processing");
    await world.look(payableId);
    expect(await promised()).toBe(0);
    // Money that was read earlier may still show it.
    expect(await promised(0)).toBe(10_000);
    expect(await promised(Date.now() + 60_000)).toBe(0);
  });

  test("a retry whose worker dies after the payment is followed, and not taken as paid elsewhere", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
    await world.retry(payableId);
    expect((await world.payAgain(payableId)).phase).toBe("following");
    expect(await world.line(runId, payableId)).toMatchObject({ state: "retrying" });
    expect(await world.paymentsOf(payableId)).toHaveLength(2);
  });

  test("a retry is not held up by a wait of another account", async ({ world }) => {
    const { payableId } = await dueRetry(world);
    const { businessId, store } = world;
    const { serviceMs: nowMs, realMs } = await world.context().clockOf("acme").now();
    const wait = {
      businessId,
      code: "insufficient_balance" as const,
      message: "short",
      nowMs,
      realMs,
    };
    await store.transactionOf(businessId, (trx) => setWait(trx, { ...wait, sourceId: "other" }));
    expect((await world.look(payableId)).phase).toBe("pay");
  });

  test("a retry that meets a wait has operators notified after a minute, without a look of its run", async ({
    world,
  }) => {
    const { payableId } = await dueRetry(world);
    const { businessId, store } = world;
    const { serviceMs, realMs } = await world.context().clockOf("acme").now();
    const wait = {
      businessId,
      sourceId: "",
      code: "payments_locked" as const,
      message: "locked",
      realMs,
    };
    const since = { nowMs: serviceMs - 61_000, retryAtMs: serviceMs + 600_000 };
    await store.transactionOf(businessId, (trx) => setWait(trx, { ...wait, ...since }));
    expect((await world.look(payableId)).waitingFor).toBe("locked");
    const told = await listNotices(store.db, { kind: "business-waits", limit: 20 });
    expect(told.filter((each) => each.businessId === businessId)).toHaveLength(1);
  });

  test("a retry of an off-cycle part pays that part, never the whole bill", async ({ world }) => {
    const { runId, payableId } = await dueRetry(world, "R01", 4_000);
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

  test("a retry whose vendor can't be paid now backs off and keeps the bill", async ({ world }) => {
    const { runId, payableId } = await dueRetry(world);
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

  test("a retry whose vendor can be paid again is paid soon, even if the first look can't read", async ({
    world,
  }) => {
    const { payableId } = await dueRetry(world);
    await world.control.changeContact("v1", { bankAccount: null });
    await world.look(payableId);
    await world.retry(payableId);
    expect((await world.look(payableId)).phase).toBe("waiting");
    await world.control.changeContact("v1", { bankAccount: { accountNumber: "00001111" } });
    await world.store.transaction((trx) =>
      flagLooks(trx, { businessId: world.businessId, payableIds: [payableId] }),
    );
    await world.control.faults([
      { method: "GET", path: "/v1/payments", when: "before", effect: "status", status: 429 },
    ]);
    expect((await world.look(payableId)).phase).toBe("waiting");
    await world.control.faults();
    await world.control.advanceWire("PT1M");
    expect((await world.look(payableId)).phase).toBe("pay");
  });

  test("a retry that a hold stops waits until the release", async ({ world }) => {
    const { runId, payableId } = await dueRetry(world);
    const { businessId } = world;
    const hold = { businessId, scope: "contact" as const, value: "v1", reason: "Call them first." };
    const { reasonCode: failure } = await world.line(runId, payableId);
    const { holdId } = await world.store.transaction((trx) =>
      createHold(trx, { ...hold, author: "olga", untilMs: null, nowMs: Date.now() }),
    );
    const held = await world.look(payableId);
    expect(held).toMatchObject({
      phase: "waiting",
      waitingFor: "on hold",
    });
    const reason = "On hold since olga said: Call them first.";
    expect(await world.line(runId, payableId)).toMatchObject({ state: "retrying", reason });
    const waitsFor = async () => (await world.assess(runId)).waitingFor;
    expect(await waitsFor()).toBe("1 bill on hold after a failure");
    await world.store.transaction((trx) => releaseHold(trx, holdId, "olga", Date.now()));
    expect((await world.look(payableId)).phase).toBe("pay");
    expect(await world.line(runId, payableId)).toMatchObject({
      reasonCode: failure,
      reason: expect.stringMatching(/Tried again on/),
    });
    expect(await waitsFor()).toBe("1 bill retried after a failure");
  });

  test("a retry with an announced day joins an incident that opens before it", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
    const { businessId } = world;
    const { sourceId, reason } = await world.line(runId, payableId);
    expect(reason).toMatch(/Tried again on/);
    const bounced = {
      businessId,
      business: "acme",
      sourceId,
      code: "R01" as const,
      reason: "No money",
    };
    const workflowId = `funding-incident/acme/${sourceId}`;
    const atMs = Date.now();
    await world.store.transaction((trx) =>
      openIncident(trx, {
        ...{ ...bounced, workflowId, roles: ["controller"] },
        ...{ nowMs: atMs, failedAtMs: atMs + 30 * 86_400_000 },
      }),
    );
    expect(await world.look(payableId)).toMatchObject({
      phase: "waiting",
      waitingFor: expect.stringMatching(/one decision/),
    });
    expect((await world.line(runId, payableId)).reason).toMatch(/Waits for .*: one decision/);
    const { details } = await world.incident(sourceId);
    expect(details).toContain("Bills that wait: 1,");
    await world.decideIncident(sourceId, "released");
    expect((await world.look(payableId)).phase).toBe("pay");
  });

  test("a retry follows its own payment even if the service doesn't show it yet", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
    const before = await world.context().clientOf("acme").payments.listAll({ payableId });
    await world.look(payableId);
    const startedMs = Date.now();
    await world.retry(payableId);
    world.override = { listAll: () => Promise.resolve(before) };
    const look = await world.look(payableId);
    expect(look.phase).toBe("following");
    // Five seconds at first, and then at most twice the payment's age.
    const mostMs = Math.max(5_000, 2 * (Date.now() - startedMs));
    expect(look.wakeInMs).toBeLessThanOrEqual(mostMs);
    expect((await world.line(runId, payableId)).state).toBe("retrying");
  });

  test("a retry waits if a lagging list shows its failed payment as still under way", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
    const client = world.context().clientOf("acme");
    const behind = (await client.payments.listAll({ payableId })).map((payment) => ({
      ...payment,
      status: "processing",
      updatedAt: payment.createdAt,
    }));
    expect((await world.look(payableId)).phase).toBe("pay");
    world.override = { listAll: () => Promise.resolve(behind) };
    await world.retry(payableId);
    expect(await world.line(runId, payableId)).toMatchObject({ state: "retrying" });
    expect((await claimOwners(world.store.db, world.businessId, [payableId])).size).toBe(1);
    world.override = {};
    expect((await world.look(payableId)).phase).toBe("waiting");
    await world.control.advanceWire("PT1M");
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    expect(await world.paymentsOf(payableId)).toHaveLength(2);
  });

  test("a retry ends and says so if the service doesn't know the bill any more", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
    const client = world.context().clientOf("acme");
    world.override = { getPayable: () => client.payables.get("gone") };
    expect((await world.look(payableId)).phase).toBe("ended");
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reasonCode: "not_found",
    });
    expect((await claimOwners(world.store.db, world.businessId, [payableId])).size).toBe(0);
  });

  test("a retry backs off while the business is locked, and is paid once it is unlocked", async ({
    world,
  }) => {
    const { payableId } = await dueRetry(world);
    await world.control.changeBusiness({ paymentsLocked: true });
    const serviceNow = async () => (await world.context().clockOf("acme").now()).serviceMs;
    for (const backOffMs of [5_000, 10_000, 20_000]) {
      expect((await world.look(payableId)).phase).toBe("pay");
      const beforeMs = await serviceNow();
      await world.retry(payableId);
      const afterMs = await serviceNow();
      const { retryAtMs = 0 } = (await listWaits(world.store.db, world.businessId))[0] ?? {};
      // The service's clock is known to a second.
      expect(retryAtMs).toBeGreaterThan(beforeMs + backOffMs - 1_000);
      expect(retryAtMs).toBeLessThan(afterMs + backOffMs + 1_000);
      await world.control.advanceWire("PT1M");
    }
    await world.control.changeBusiness({ paymentsLocked: false });
    await world.look(payableId);
    await world.retry(payableId);
    expect(await world.paymentsOf(payableId)).toHaveLength(2);
    expect(await listWaits(world.store.db, world.businessId)).toEqual([]);
  });

  test("a retry whose approval has expired is parked, and the next run can claim its bill", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
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
      reasonCode: "approval_expired",
    });
    expect((await claimOwners(world.store.db, world.businessId, [payableId])).size).toBe(0);
    expect((await world.look(payableId)).phase).toBe("ended");
    expect((await claimOwners(world.store.db, world.businessId, [payableId])).size).toBe(0);
  });

  test("a retry whose bill has changed since its approval leaves it to the next run", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
    await world.control.changeContact("v1", { bankAccount: { accountNumber: "00009999" } });
    await world.look(payableId);
    await world.retry(payableId);
    expect((await world.look(payableId)).phase).toBe("ended");
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reasonCode: "changed_since_approval",
    });
    expect((await claimOwners(world.store.db, world.businessId, [payableId])).size).toBe(0);
  });
});
