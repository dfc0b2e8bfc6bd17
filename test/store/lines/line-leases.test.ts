import { expect, test } from "vitest";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import { createHold } from "../../../src/store/holds/holds.ts";
import type { Store } from "../../../src/store/index.ts";
import { daysBetween } from "../../../src/domain/clock/dates.ts";
import { arrivalOn } from "../../../src/domain/planning/dates.ts";
import { leaseLine, leaseLines, noteSends } from "../../../src/store/lines/line-leases.ts";
import { planLinesOf } from "../../../src/store/lines/plan-lines.ts";
import { changeLine, getRunLine, type RunLine } from "../../../src/store/lines/lines.ts";
import { requestCancel } from "../../../src/store/runs/runs.ts";
import { keepSeenPayments } from "../../../src/store/payables/seen-payments.ts";
import { clearWaits, listWaits, setWait } from "../../../src/store/runs/waits.ts";
import { approval, approvedRun as runOf, lease as leaseOf } from "../approved-run.ts";
import { testStore } from "../support.ts";

const RUN = "pay-run/acme/weekly/2026-11-05";

async function approvedRun(payables = ["pay_1", "pay_2", "pay_3"]): Promise<Store> {
  const { store } = await testStore();
  await runOf(store, "weekly", payables);
  return store;
}

const lease = (store: Store, changes: Parameters<typeof leaseOf>[2] = {}) =>
  leaseOf(store, RUN, changes);

const idsOf = (leased: Awaited<ReturnType<typeof lease>>): string[] =>
  leased.lines.map(({ line }) => line.payableId);

test("a leased line belongs to one worker until the lease ends, and then to the next with a higher epoch", async () => {
  const store = await approvedRun(["pay_1"]);
  const lease = (leaseMs: number) =>
    store.transactionOf("biz_1", (trx) =>
      leaseLines(trx, {
        ...{ runId: RUN, businessId: "biz_1", by: "worker-1", limit: 20 },
        ...{ leaseMs, serviceMs: 5_000 },
      }),
    );
  // So short that the lease has ended by the next statement.
  const first = await lease(-1);
  expect(first.lines).toMatchObject([{ line: { leaseEpoch: 1 } }]);
  const second = await lease(60_000);
  expect(second.lines).toMatchObject([{ line: { leaseEpoch: 2 } }]);
  expect((await lease(60_000)).lines).toEqual([]);
  const key = { runId: RUN, payableId: "pay_1" };
  expect(await changeLine(store.db, key, { state: "planned" }, 7_000, { epoch: 1 })).toBe(false);
});

test("a retry's line belongs to the process that leased it until its lease ends", async () => {
  const store = await approvedRun(["pay_1", "pay_2"]);
  const lineNow = async () => {
    const line = await getRunLine(store.db, RUN, "pay_1");
    if (line === undefined) throw new Error("it is planned");
    return line;
  };
  const leaseAs = async (by: string, leaseMs: number, line?: RunLine) => {
    const read = line ?? (await lineNow());
    return store.transactionOf("biz_1", (trx) => leaseLine(trx, read, { by, leaseMs }));
  };
  const before = await lineNow();
  // So short that the lease has ended by the next statement.
  expect(await leaseAs("worker-1", -1)).toMatchObject({ leaseEpoch: before.leaseEpoch + 1 });
  // What was read before another process had the line is no ground to lease it.
  expect(await leaseAs("worker-2", 60_000, before)).toBeUndefined();
  expect(await leaseAs("worker-2", 60_000)).toMatchObject({ leaseEpoch: before.leaseEpoch + 2 });
  expect(await leaseAs("worker-3", 60_000)).toBeUndefined();
  expect(await getRunLine(store.db, RUN, "pay_2")).toMatchObject({ leaseEpoch: before.leaseEpoch });
});

test("a line paid on a later day than planned is late by the day on which its money then arrives", async () => {
  const store = await approvedRun(["pay_1", "pay_2"]);
  const [plan] = await planLinesOf(store.db, RUN, ["pay_1"]);
  if (plan === undefined) throw new Error("it is planned");
  const send = (payableId: string, executionDate: string) => ({
    ...{ runId: RUN, payableId, seq: 1, executionDate },
  });
  await store.transactionOf("biz_1", (trx) =>
    noteSends(trx, [send("pay_1", "2027-03-01"), send("pay_2", plan.executionDate)], 60_000),
  );
  const lateBy = await store.db
    .selectFrom("run_lines")
    .select(["payable_id", "execution_date", "days_late"])
    .where("run_id", "=", RUN)
    .orderBy("payable_id")
    .execute();
  const arrivalDate = arrivalOn("2027-03-01", plan);
  expect(lateBy).toMatchObject([
    { execution_date: "2027-03-01", days_late: daysBetween(plan.dueDate ?? "", arrivalDate) },
    { execution_date: plan.executionDate, days_late: 0 },
  ]);
});

test("a line is never sent without a valid approval of exactly this line", async () => {
  const store = await approvedRun(["pay_1", "pay_2"]);
  await store.db.deleteFrom("line_approvals").where("payable_id", "=", "pay_1").execute();
  const leased = await lease(store);
  expect(leased.sent).toEqual(["pay_2"]);
  expect(leased.closed).toEqual({ pay_1: "not_approved" });
});

test("a send is written with the latest time that it may be at the service, so that it never counts as older", async () => {
  const store = await approvedRun(["pay_1"]);
  await lease(store, { serviceMs: 5_000, serviceOffMs: 8_000 });
  const { opened_service_ms: openedMs } = await store.db
    .selectFrom("sends")
    .select("opened_service_ms")
    .executeTakeFirstOrThrow();
  expect(Number(openedMs)).toBe(13_000);
});

test("nothing is sent if the approval has expired on the business clock", async () => {
  const store = await approvedRun();
  expect((await lease(store, { businessMs: 10_001 })).sent).toEqual([]);
});

test("nothing is sent if the approval has expired in real time, however slow the caller's clock is", async () => {
  const store = await approvedRun(["pay_1"]);
  expect((await lease(store, { sandbox: false })).closed).toEqual({ pay_1: "not_approved" });
});

test("a hold stops its lines in the transaction that would send them", async () => {
  const store = await approvedRun();
  await store.transaction((trx) =>
    createHold(trx, {
      businessId: "biz_1",
      scope: "payable",
      value: "pay_2",
      reason: "Call the vendor first.",
      author: "olga",
      untilMs: null,
      nowMs: 4,
    }),
  );
  const leased = await lease(store);
  expect(leased.sent).toEqual(["pay_1", "pay_3"]);
  expect(leased.closed).toEqual({ pay_2: "on_hold" });
});

test("nothing more is sent for a cancelled run", async () => {
  const store = await approvedRun(["pay_1"]);
  await store.transaction((trx) => requestCancel(trx, RUN, "olga", 5));
  expect((await lease(store)).closed).toEqual({ pay_1: "run_cancelled" });
});

test("nothing more is sent for a run that is rejected while it pays", async () => {
  const store = await approvedRun(["pay_1"]);
  await store.transaction((trx) =>
    recordDecision(trx, { ...approval(RUN, "carol", []), decision: "reject" }),
  );
  expect((await lease(store)).closed).toEqual({ pay_1: "rejected" });
});

test("a line that was replanned after it was leased is not sent in its old form", async () => {
  const store = await approvedRun(["pay_1"]);
  await store.db.updateTable("run_lines").set({ line_hash: "another" }).execute();
  expect((await lease(store)).closed).toEqual({ pay_1: "moved" });
});

test("a payable that belongs to another workflow is not sent", async () => {
  const store = await approvedRun(["pay_1"]);
  await store.db.updateTable("claims").set({ owner: "retry-failed-payment/acme/pay_1" }).execute();
  expect((await lease(store)).closed).toEqual({ pay_1: "not_claimed" });
});

test("a vendor's weekly limit counts the week's other lines that are in flight or paid", async () => {
  const store = await approvedRun();
  const limits = { billCents: null, vendorPerWeekCents: 25_000, businessPerWeekCents: null };
  const first = await lease(store, { limits, limit: 2 });
  expect(first.sent).toEqual(["pay_1", "pay_2"]);
  expect((await lease(store, { limits })).closed).toEqual({ pay_3: "over_vendor_week_limit" });
});

test("refused lines that wait to be sent again can't exceed the limit together", async () => {
  const store = await approvedRun(["pay_1", "pay_2"]);
  const limits = { billCents: null, vendorPerWeekCents: 15_000, businessPerWeekCents: null };
  const { sent, closed } = await lease(store, { limits });
  expect(sent).toEqual(["pay_1"]);
  expect(closed).toEqual({ pay_2: "over_vendor_week_limit" });
});

test("lines that are sent again count once for the limit", async () => {
  const store = await approvedRun(["pay_1", "pay_2"]);
  const limits = { billCents: null, vendorPerWeekCents: 20_000, businessPerWeekCents: null };
  expect((await lease(store, { limits })).sent).toEqual(["pay_1", "pay_2"]);
  await store.db.updateTable("sends").set({ result: "unknown", answered_at_ms: 5 }).execute();
  await store.db.updateTable("run_lines").set({ state: "unknown", lease_until_ms: 0 }).execute();
  expect((await lease(store, { limits })).sent).toEqual(["pay_1", "pay_2"]);
});

test("lines that pass an amount together with another run's go, until one needs another rule", async () => {
  const { store } = await testStore();
  await runOf(store, "weekly", ["pay_1", "pay_2", "pay_3"], { sumRules: [0] });
  const rule = { review: false, overCents: 25_000, where: null, by: ["owner"], quorum: 1 };
  const approve = [{ ...rule, overPer: "vendor-week" as const }];
  const { sent, closed } = await lease(store, { approve });
  expect(sent).toEqual(["pay_1", "pay_2"]);
  expect(closed).toEqual({ pay_3: "other_rule" });
});

test("a parked line counts for the limit with those of its payments that were made", async () => {
  const store = await approvedRun(["pay_1", "pay_2"]);
  const limits = { billCents: null, vendorPerWeekCents: 15_000, businessPerWeekCents: null };
  expect((await lease(store, { limits, limit: 1 })).sent).toEqual(["pay_1"]);
  await store.db.updateTable("sends").set({ result: "applied", answered_at_ms: 5 }).execute();
  await store.db.deleteFrom("open_subjects").execute();
  await store.db
    .updateTable("run_lines")
    .set({ state: "parked", reason_code: "partly_paid", payment_ids: '["p_1","p_2"]' })
    .where("payable_id", "=", "pay_1")
    .execute();
  const seen = (status: string) =>
    store.transactionOf("biz_1", (trx) =>
      keepSeenPayments(trx, "biz_1", [
        { id: "p_1", status: "completed", amountCents: 6_000, updatedAt: null },
        { id: "p_2", status, amountCents: 4_000, updatedAt: null },
      ]),
    );
  await seen("cancelled");
  expect((await lease(store, { limits })).closed).toEqual({ pay_2: "over_vendor_week_limit" });
  await store.db.updateTable("run_lines").set({ lease_until_ms: 0 }).execute();
  const wider = { ...limits, vendorPerWeekCents: 16_000 };
  expect((await lease(store, { limits: wider })).sent).toEqual(["pay_2"]);
});

test("while the business waits nothing is leased until the wait's time, and then one line first", async () => {
  const store = await approvedRun();
  const wait = {
    businessId: "biz_1",
    sourceId: "",
    code: "rate_limited" as const,
    message: "Slow down.",
    nowMs: 4_000,
    retryAtMs: 6_000,
    realMs: 4_000,
  };
  await store.transactionOf("biz_1", (trx) => setWait(trx, wait));
  const blocked = await lease(store);
  expect(blocked).toMatchObject({ lines: [], blockedUntilMs: 6_000 });
  expect(idsOf(await lease(store, { serviceMs: 6_001 }))).toEqual(["pay_1"]);
  const paid = { businessId: "biz_1", sourceId: "balance", realMs: 6_001 };
  await store.transactionOf("biz_1", (trx) => clearWaits(trx, paid));
  expect(idsOf(await lease(store, { serviceMs: 6_002 }))).toEqual(["pay_2", "pay_3"]);
});

test("lines that pay from one source don't count as a try of another source's wait", async () => {
  const store = await approvedRun();
  const wait = {
    businessId: "biz_1",
    sourceId: "bank",
    code: "insufficient_balance" as const,
    message: "Short.",
    nowMs: 4_000,
    retryAtMs: 4_500,
    realMs: 4_000,
  };
  await store.transactionOf("biz_1", (trx) => setWait(trx, wait));
  expect(idsOf(await lease(store))).toEqual(["pay_1", "pay_2", "pay_3"]);
  expect(await listWaits(store.db, "biz_1")).toMatchObject([{ retryAtMs: 4_500, tries: 0 }]);
});
