import { describe, expect, vi } from "vitest";
import { openRetryCase, setLine } from "../../../activities/retry/retry-case.ts";
import type { PayLimits } from "../../../src/contracts/playbook.ts";
import { claimOwners } from "../../../src/store/payables/claims.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { getRetry, updateRetry } from "../../../src/store/retries/retries.ts";
import type { MoneyWorld, PlannedBills } from "../money-world.ts";
import { POLICY } from "../planning-world.ts";
import { askForRetry, dueRetry, test } from "../retry-world.ts";

describe("a retry that a person asks for", () => {
  test("a person's retry of a part that bounced pays that part", async ({ world }) => {
    const { runId, payableId } = await dueRetry(world, "R01", 4_000);
    await parked(world, payableId);
    await askForRetry(world, { runId, payableId });
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    const { payments } = world.context().clientOf("acme");
    const amounts = (await payments.listAll({ payableId })).map(({ amountCents }) => amountCents);
    expect(amounts).toEqual([4_000, 4_000]);
  });

  test("a person's retry after the approval has expired leaves the bill to the next run", async ({
    world,
  }) => {
    const planned = await dueRetry(world, "R01");
    const { runId, payableId } = planned;
    await parked(world, payableId);
    await askForRetry(world, planned);
    await world.store.db.updateTable("line_approvals").set({ expires_at_ms: 1 }).execute();
    expect((await world.look(payableId)).outcome).toBe("left to the next run");
    const left = { state: "parked", reasonCode: "not_approved" };
    expect(await world.line(runId, payableId)).toMatchObject(left);
    expect(await claimOwners(world.store.db, world.businessId, [payableId])).toEqual(new Map());
  });

  test("a person's retry of a bill with a failed part leaves it to the next run, even if asked twice", async ({
    world,
  }) => {
    const planned = await world.approvedRun([{ totalAmountCents: 150_000_00 }]);
    const { runId, payableId } = planned;
    await world.pay(runId);
    const { payments } = world.context().clientOf("acme");
    const parts = await payments.listAll({ payableId });
    const small = parts.find(({ amountCents }) => amountCents === 50_000_00);
    const match = { paymentId: small?.id ?? "" };
    await world.control.outcome({ match, outcome: "fail", code: "R01" });
    await world.control.advance("P9D");
    await world.follow(runId);
    for (let looks = 0; looks < 2; looks += 1) {
      expect((await world.look(payableId)).phase).toBe("parked");
      const told = { state: "parked", reasonCode: "partly_failed" };
      expect(await world.line(runId, payableId)).toMatchObject(told);
    }
    await askForRetry(world, planned);
    // A signal that arrives after the retry workflow has ended starts it again.
    for (let looks = 0; looks < 2; looks += 1) {
      expect((await world.look(payableId)).phase).toBe("ended");
      const left = { state: "parked", reasonCode: "changed_since_approval" };
      expect(await world.line(runId, payableId)).toMatchObject(left);
      expect(await claimOwners(world.store.db, world.businessId, [payableId])).toEqual(new Map());
    }
  });

  test("a person's retry beyond Nacha's cap is not made, even if its record was lost", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
    const { businessId } = world;
    for (let retries = 0; retries < 2; retries += 1) {
      await bounceAgain(world, payableId);
    }
    expect((await world.look(payableId)).phase).toBe("parked");
    const { db } = world.store;
    await updateRetry(db, { businessId, payableId }, { retriesMade: 0 }, Date.now());
    await askForRetry(world, { runId, payableId });
    expect((await world.look(payableId)).phase).toBe("ended");
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reasonCode: "retries_used_up",
    });
    expect(await claimOwners(db, businessId, [payableId])).toEqual(new Map());
    expect(await world.paymentsOf(payableId)).toHaveLength(3);
  });

  test.for(["R02", "R05", "R08", "R16", "R23", "R24", "R29"])(
    "a person's retry after %s pays nothing: the next run asks for a new approval",
    async (code, { world }) => {
      const { runId, payableId } = await dueRetry(world, code);
      await askForRetry(world, { runId, payableId });
      const { db } = world.store;
      const kept = await getRetry(db, world.businessId, payableId);
      expect(kept?.approvalEnded).toContain(`${code} ends its approval`);
      expect(await world.look(payableId)).toMatchObject({ outcome: "left to the next run" });
      expect(await world.line(runId, payableId)).toMatchObject({
        reasonCode: code,
        reason: expect.stringContaining("The next run asks for a new approval"),
      });
      expect(await claimOwners(db, world.businessId, [payableId])).toEqual(new Map());
      await world.retry(payableId);
      expect(await world.paymentsOf(payableId)).toHaveLength(1);
    },
  );

  test("a person's retry is not sent if a new return code ends the approval in the meantime", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
    await parked(world, payableId);
    await askForRetry(world, { runId, payableId });
    expect((await world.look(payableId)).phase).toBe("pay");
    const { payments } = world.context().clientOf("acme");
    const shown = await payments.listAll({ payableId });
    const stopped = shown.map((payment) => ({ ...payment, failureReason: "R08 Payment stopped" }));
    world.override = { listAll: () => Promise.resolve(stopped) };
    await world.retry(payableId);
    world.override = {};
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
  });

  async function parked(world: MoneyWorld, payableId: string): Promise<void> {
    const { store, businessId } = world;
    const change = { phase: "parked", retryOn: null };
    await updateRetry(store.db, { businessId, payableId }, change, Date.now());
  }

  async function bounceAgain(world: MoneyWorld, payableId: string): Promise<void> {
    const fail = { outcome: "fail", code: "R01", times: 1 } as const;
    await world.control.outcome({ match: { payableId }, ...fail });
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    await world.control.advance("P9D");
    await world.look(payableId);
  }
});

describe("a person's retry of a bill over a limit", () => {
  async function parkedByLimit(
    world: MoneyWorld,
    limits: Partial<PayLimits>,
  ): Promise<PlannedBills> {
    const none = { billCents: null, vendorPerWeekCents: null, businessPerWeekCents: null };
    // Payments and retries run on the next banking day, in the same week whatever today is.
    const pay = { ...POLICY.pay, on: "next-business-day" as const };
    const planned = await world.approvedRun([{}, {}], { pay });
    world.limits = { ...none, ...limits };
    await world.pay(planned.runId);
    return planned;
  }

  test("a person's retry over a weekly limit is parked again, and pays in a week with room", async ({
    world,
  }) => {
    const { runId, payableIds } = await parkedByLimit(world, { vendorPerWeekCents: 15_000 });
    const lines = await Promise.all(payableIds.map((id) => world.line(runId, id)));
    const payableId = lines.find(({ state }) => state === "parked")?.payableId ?? "";
    expect((await world.line(runId, payableId)).reasonCode).toBe("over_vendor_week_limit");
    await askForRetry(world, { runId, payableId });
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reasonCode: "over_vendor_week_limit",
    });
    expect(await world.paymentsOf(payableId)).toEqual([]);
    expect((await world.look(payableId)).phase).toBe("parked");
    await world.control.advance("P14D");
    await askForRetry(world, { runId, payableId });
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
  });
});

test("a person's retry of a bill above the limit for one bill is never sent", async ({ world }) => {
  const limits = { billCents: 5_000, vendorPerWeekCents: null, businessPerWeekCents: null };
  const { runId, payableId } = await world.approvedRun([{}], { limits });
  await askForRetry(world, { runId, payableId });
  expect((await world.look(payableId)).phase).toBe("pay");
  await world.retry(payableId);
  expect(await world.line(runId, payableId)).toMatchObject({
    state: "parked",
    reasonCode: "over_bill_limit",
  });
  expect(await world.paymentsOf(payableId)).toEqual([]);
});

test("a person who asks again as soon as a retry has failed is not forgotten", async ({
  world,
}) => {
  const limits = { billCents: 5_000, vendorPerWeekCents: null, businessPerWeekCents: null };
  const planned = await world.approvedRun([{}], { limits });
  const { runId, payableId } = planned;
  await askForRetry(world, planned);
  expect((await world.look(payableId)).phase).toBe("pay");
  const { store, businessId } = world;
  const transactionOf = store.transactionOf.bind(store);
  let hasAsked = false;
  vi.spyOn(store, "transactionOf").mockImplementation(async (business, work) => {
    const done = await transactionOf(business, work);
    if (!hasAsked && (await world.line(runId, payableId)).state === "parked") {
      hasAsked = true;
      await askForRetry(world, planned);
    }
    return done;
  });
  await world.retry(payableId);
  vi.restoreAllMocks();
  expect(hasAsked).toBe(true);
  const asked = { phase: "parked", requested: "retry", requestedBy: "olga" };
  expect(await getRetry(store.db, businessId, payableId)).toMatchObject(asked);
  expect((await world.look(payableId)).phase).toBe("pay");
  // The second request is answered too, and only then is nothing asked any more.
  await world.retry(payableId);
  expect(await getRetry(store.db, businessId, payableId)).toMatchObject({ requested: null });
});

describe("a person who gives a bill up", () => {
  test("a look of the retry that began earlier doesn't overrule a person who gave the bill up", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world, "R03");
    const { store } = world;
    await askForRetry(world, { runId, payableId });
    const opened = await openRetryCase(world.context(), { business: "acme", payableId }, false);
    await changeLine(store.db, { runId, payableId }, { state: "given-up" }, Date.now());
    if (opened.kind === "ours") await setLine(opened.case, { state: "retrying" });
    expect(opened.kind).toBe("ours");
    expect((await world.line(runId, payableId)).state).toBe("given-up");
  });
});
