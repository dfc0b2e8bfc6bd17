import { describe, expect } from "vitest";
import { payRequest } from "../../src/ledger/requests.ts";
import { subjectFacts } from "../../src/ledger/rows.ts";
import { insertAdoptions, insertLookups } from "../../src/ledger/write.ts";
import { changeLine, planLineOf } from "../../src/store/lines/lines.ts";
import { releaseOrphanClaims } from "../../src/store/janitor/open-runs.ts";
import { listNotices, type Notice } from "../../src/store/notices/notices.ts";
import { openSubjects } from "../../src/store/payables/open-subjects.ts";
import { getPlanLines } from "../../src/store/lines/plan-lines.ts";
import { setRunPhase } from "../../src/store/runs/runs.ts";
import { CommittedSums } from "../../src/store/lines/committed-sums.ts";
import { lookAtOpenSends } from "../../src/janitor/open-sends.ts";
import { type MoneyWorld, test } from "../activities/money-world.ts";
import { sendOnce } from "../support/sends.ts";

const HOUR_MS = 3_600_000;
const LATER_MS = Number.MAX_SAFE_INTEGER;
const NO_LIMITS = { billCents: null, vendorPerWeekCents: null, businessPerWeekCents: null };
const LAST_WORD = { isWhole: true, shownIds: [], shown: [] } as const;

function pass(world: MoneyWorld, unread = new Set<string>()): Promise<number> {
  const context = world.context();
  const profiles = { all: () => [world.world.profile] };
  const { store, temporal, log } = context;
  const clientOf = (business: string) => context.clientOf(business);
  const clockOf = (business: string) => context.clockOf(business);
  return lookAtOpenSends(
    { store, temporal, log, profiles, clientOf, clockOf },
    world.world.profile,
    unread,
  );
}

async function isOpen(world: MoneyWorld, payableId: string): Promise<boolean> {
  return (await openSubjects(world.store.db, world.businessId, [payableId])).has(payableId);
}

function told(world: MoneyWorld, payableId: string): Promise<Notice[]> {
  return listNotices(world.store.db, { kind: "payment-unexplained", limit: 100 }).then((all) =>
    all.filter(({ data }) => data["payableId"] === payableId),
  );
}

/** Makes a bill whose request was carried out without a response, and which was parked since. */
async function paidUnheard(
  world: MoneyWorld,
  bills = [{}],
): Promise<{ runId: string; payableId: string }> {
  const { runId } = await world.approvedRun(bills);
  const { businessId, store } = world;
  const [planned] = await getPlanLines(store.db, runId);
  if (planned === undefined) throw new Error("nothing is planned");
  const { payableId } = planned.line;
  const plan = await planLineOf(store.db, { runId, payableId, version: 1 });
  const { operation: _, ...terms } = payRequest(plan, { owner: runId, runId }, plan.executionDate);
  const sent = { businessId, subject: payableId, owner: runId, agoMs: HOUR_MS, terms };
  const { idempotencyKey } = await sendOnce(store, sent);
  const write = { method: "POST", path: terms.path, bodyText: terms.body, idempotencyKey } as const;
  await world
    .context()
    .clientOf("acme")
    .sendMoneyWrite({ ...write, timeoutMs: 10_000 });
  await changeLine(store.db, { runId, payableId }, { state: "parked" }, Date.now());
  return { runId, payableId };
}

/** Records a look right after the request, too early to be conclusive, that found its payment. */
async function foundEarly(world: MoneyWorld, payableId: string, paymentId: string): Promise<void> {
  const { businessId, store } = world;
  const begunAtMs = Date.now() - HOUR_MS + 1_000;
  const reading = { isWhole: true, begunAtMs, begunServiceMs: begunAtMs, shownIds: [paymentId] };
  await store.transactionOf(businessId, async (trx) => {
    const [attempt] = (await subjectFacts(trx, businessId, payableId)).attempts;
    if (attempt === undefined) throw new Error("nothing was sent");
    const lookups = [{ subject: payableId, reading: { ...reading, shown: [] } }];
    await insertLookups(trx, businessId, lookups, begunAtMs);
    const of = { businessId, subject: payableId, attemptId: attempt.attemptId } as const;
    await insertAdoptions(trx, { ...of, operation: "pay", ids: [paymentId], atMs: begunAtMs });
  });
}

describe("a bill that a request may still pay, and that nobody works on", () => {
  test("a bill is released once a look has shown that its request had no effect", async ({
    world,
  }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    const { businessId, store } = world;
    await changeLine(store.db, { runId, payableId }, { state: "parked" }, Date.now());
    await sendOnce(store, { businessId, subject: payableId, owner: runId, agoMs: HOUR_MS });
    expect(await isOpen(world, payableId)).toBe(true);
    expect(await pass(world)).toBe(1);
    expect(await isOpen(world, payableId)).toBe(false);
    expect(await pass(world)).toBe(0);
  });

  test("a bill is free for the next run if its run found it paid and ended before a conclusive look", async ({
    world,
  }) => {
    const { runId, payableId } = await paidUnheard(world);
    const { businessId, store } = world;
    const [payment] = await world.paymentsOf(payableId);
    if (payment === undefined) throw new Error("nothing was paid");
    await foundEarly(world, payableId, payment.id);
    const paid = { state: "settled", paymentIds: [payment.id] } as const;
    await changeLine(store.db, { runId, payableId }, paid, Date.now());
    await setRunPhase(store.db, runId, { phase: "completed", waitingFor: null });
    const release = (): Promise<number> => releaseOrphanClaims(store.db, businessId, LATER_MS);
    expect(await release()).toBe(0);
    expect(await pass(world)).toBe(1);
    expect(await isOpen(world, payableId)).toBe(false);
    expect(await release()).toBe(1);
    expect(await world.line(runId, payableId)).toMatchObject(paid);
    expect(await told(world, payableId)).toEqual([]);
  });

  test("a bill gets the payment that a look finds, and its run follows it", async ({ world }) => {
    const { runId, payableId } = await paidUnheard(world);
    await pass(world);
    const [payment] = await world.paymentsOf(payableId);
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "scheduled",
      paymentIds: [payment?.id],
    });
    expect(await told(world, payableId)).toEqual([]);
  });

  test("a found payment goes to the run that sent it, whichever other runs had the same bill", async ({
    world,
  }) => {
    const before = await world.approvedRun([{}]);
    const { businessId, store } = world;
    await setRunPhase(store.db, before.runId, { phase: "cancelled", waitingFor: null });
    const cancelled = { state: "cancelled" } as const;
    await changeLine(store.db, before, cancelled, Date.now());
    await store.db.deleteFrom("claims").where("business_id", "=", businessId).execute();
    const { runId, payableId } = await paidUnheard(world, []);
    expect(payableId).toBe(before.payableId);
    const sameHash = await world.line(before.runId, payableId);
    expect(await world.line(runId, payableId)).toMatchObject({ lineHash: sameHash.lineHash });
    await pass(world);
    expect(await world.line(before.runId, payableId)).toMatchObject({ paymentIds: [] });
    expect((await world.line(runId, payableId)).state).toBe("scheduled");
    expect(await told(world, payableId)).toEqual([]);
  });

  test("people are notified if a payment is found after the bill's run has ended", async ({
    world,
  }) => {
    const { runId, payableId } = await paidUnheard(world);
    await setRunPhase(world.store.db, runId, { phase: "completed", waitingFor: null });
    await pass(world);
    const [payment] = await world.paymentsOf(payableId);
    const line = await world.line(runId, payableId);
    expect(line).toMatchObject({ state: "parked", paymentIds: [payment?.id] });
    const { businessMs } = await world.context().clockOf("acme").now();
    const limits = { ...NO_LIMITS, vendorPerWeekCents: line.amountCents + 1 };
    const weeks = new CommittedSums(world.store.db, { limits, approve: [], businessMs });
    const another = { ...line, payableId: "another", amountCents: 2 };
    expect(await weeks.refusal(another, { totalCents: 2 })).toMatchObject({
      code: "over_vendor_week_limit",
    });
    const [notice, ...more] = await told(world, payableId);
    expect(notice?.subject).toMatch(/^One BILL-\d+ was paid after all$/);
    expect(notice?.text).toContain(payment?.id);
    expect(more).toEqual([]);
  });

  test("people are notified if the service shows a payment that no send explains", async ({
    world,
  }) => {
    const { runId, payableId } = await paidUnheard(world);
    const { payments } = world.context().clientOf("acme");
    const other = (await payments.listAll({ payableId })).map((each) => ({
      ...each,
      amountCents: 1,
    }));
    world.override = { listAll: () => Promise.resolve(other) };
    await world.control.advanceWire("PT20M");
    for (let passes = 0; passes < 2; passes += 1) await pass(world);
    const [notice, ...more] = await told(world, payableId);
    expect(notice?.text).toContain(other[0]?.id);
    expect(more).toEqual([]);
    expect((await world.line(runId, payableId)).state).toBe("parked");
  });

  test("a bill that is paid after a conclusive look is notified once, and put on hold", async ({
    world,
  }) => {
    const { payableId } = await paidUnheard(world);
    const { businessId, store } = world;
    await store.db.deleteFrom("open_subjects").execute();
    const begunAtMs = Date.now() - 20 * 60_000;
    await store.transactionOf(businessId, (trx) =>
      insertLookups(
        trx,
        businessId,
        [{ subject: payableId, reading: { ...LAST_WORD, begunAtMs, begunServiceMs: begunAtMs } }],
        begunAtMs,
      ),
    );
    expect(await pass(world)).toBe(1);
    const [payment] = await world.paymentsOf(payableId);
    const [notice, ...more] = await told(world, payableId);
    expect(notice?.text).toContain(payment?.id);
    expect(more).toEqual([]);
    expect(await world.holds()).toMatchObject([{ scope: "payable", value: payableId }]);
    expect(await pass(world)).toBe(0);
  });

  test("people are notified before the money goes out if a partly paid bill is paid again too late", async ({
    world,
  }) => {
    const { runId, payableId } = await world.plannedRun([{}], {}, 4_000);
    await world.approve(runId);
    await world.pay(runId);
    const { businessId, store } = world;
    const [first] = await world.context().clientOf("acme").payments.listAll({ payableId });
    if (first === undefined) throw new Error("nothing was paid");
    const of = { businessId, subject: payableId, owner: runId, agoMs: HOUR_MS };
    await sendOnce(store, { ...of, seq: 2 });
    await store.db.deleteFrom("open_subjects").execute();
    expect(await world.line(runId, payableId)).toMatchObject({ state: "scheduled" });
    const late = { ...first, id: "pay_late" };
    world.override = { listAll: () => Promise.resolve([first, late]) };
    await pass(world);
    const [notice] = await told(world, payableId);
    expect(notice?.text).toContain(late.id);
    expect(await world.holds()).toMatchObject([{ scope: "payable", value: payableId }]);
  });

  test("a bill is looked at even if many others can never be read", async ({ world }) => {
    const { runId, payableIds } = await world.approvedRun(Array.from({ length: 12 }, () => ({})));
    const { businessId, store } = world;
    for (const [index, payableId] of payableIds.entries()) {
      await changeLine(store.db, { runId, payableId }, { state: "parked" }, Date.now());
      const agoMs = (20 - index) * HOUR_MS;
      await sendOnce(store, { businessId, subject: payableId, owner: runId, agoMs });
    }
    const { payments } = world.context().clientOf("acme");
    const last = payableIds.at(-1) ?? "";
    world.override = {
      listAll: (filters, options) =>
        filters?.payableId === last
          ? payments.listAll(filters, options)
          : Promise.reject(new Error("broken")),
    };
    const unread = new Set<string>();
    await pass(world, unread);
    expect(await isOpen(world, last)).toBe(true);
    await pass(world, unread);
    expect(await isOpen(world, last)).toBe(false);
    expect(await isOpen(world, payableIds[0] ?? "")).toBe(true);
  });
});
