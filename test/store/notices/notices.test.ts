import { expect, test } from "vitest";
import type { NewNotice } from "../../../src/domain/facts/fact.ts";
import type { Store } from "../../../src/store/index.ts";
import {
  claimDeliveries,
  countUndelivered,
  deliveriesOf,
  postponeRouting,
  recordDelivery,
  retryNotice,
  routeNotice,
  unrouted,
} from "../../../src/store/notices/notice-deliveries.ts";
import {
  getNotice,
  isNotified,
  lastRaisedMs,
  listNotices,
  raiseNotice,
} from "../../../src/store/notices/notices.ts";
import { listAudit } from "../../../src/store/audit/audit.ts";
import { pruneNotices } from "../../../src/store/facts/notice-prune.ts";
import { updateRetry, upsertRetry } from "../../../src/store/retries/retries.ts";
import { unreportedParked } from "../../../src/store/lines/parked-notices.ts";
import { storePlan } from "../../../src/store/plans/plan-writes.ts";
import { upsertRun } from "../../../src/store/runs/runs.ts";
import { newRun, planLine, planSummary } from "../fixtures.ts";
import { testStore } from "../support.ts";

function notice(changes: Partial<NewNotice> = {}): NewNotice {
  return {
    businessId: "biz_1",
    kind: "approval-needed",
    factKey: "run_1/hash_1",
    subject: "3 bills wait for approval",
    text: "Decide by Thursday.",
    roles: ["owner", "controller", "owner"],
    data: { runId: "run_1" },
    nowMs: 1_000,
    ...changes,
  };
}

/** Raises a notice and routes it; returns its id. */
async function routed(store: Store, routes: readonly string[], changes: Partial<NewNotice> = {}) {
  await raiseNotice(store.db, notice(changes));
  const [raised] = await unrouted(store.db, "people", 1_000, 10);
  if (raised === undefined) throw new Error("nothing was raised");
  await store.transaction((trx) =>
    routeNotice(
      trx,
      raised,
      routes.map((target) => ({ channel: "mail", target })),
      null,
      1_000,
    ),
  );
  return raised.noticeId;
}

test("a fact is notified once, even if many processes raise it at the same moment", async () => {
  const { store } = await testStore();
  const raised = await Promise.all(
    Array.from({ length: 8 }, () => store.transaction((trx) => raiseNotice(trx, notice()))),
  );
  expect(raised.filter(Boolean)).toHaveLength(1);
  expect(await isNotified(store.db, notice())).toBe(true);
  expect(await raiseNotice(store.db, notice({ businessId: "biz_2" }))).toBe(true);
  expect(await raiseNotice(store.db, notice({ kind: "decide-by-near" }))).toBe(true);
  expect(await raiseNotice(store.db, notice({ factKey: "run_1/hash_2" }))).toBe(true);
  expect(await listNotices(store.db, { businessId: "biz_1", limit: 10 })).toHaveLength(3);
});

test("a notice is rolled back with the transaction that raised it", async () => {
  const { store } = await testStore();
  const failing = store.transaction(async (trx) => {
    await raiseNotice(trx, notice());
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await isNotified(store.db, notice())).toBe(false);
});

test("a raised notice can be read, with its subject on one line and each role once", async () => {
  const { store } = await testStore();
  await raiseNotice(
    store.db,
    notice({ subject: "two\r\nBcc: lines\n", runId: "run_1", contactId: "con_1" }),
  );
  const [only] = await listNotices(store.db, { runId: "run_1", kind: "approval-needed", limit: 1 });
  expect(only).toMatchObject({
    subject: "two Bcc: lines",
    roles: ["controller", "owner"],
    data: { runId: "run_1" },
    contactId: "con_1",
    createdAtMs: 1_000,
    routedAtMs: null,
  });
  expect(await lastRaisedMs(store.db, "run_1", "approval-needed")).toBe(1_000);
  expect(await lastRaisedMs(store.db, "run_1", "parked")).toBeNull();
});

test("a notice is routed once, and a delivery is tried by one process at a time", async () => {
  const { store } = await testStore();
  const noticeId = await routed(store, ["a@example.com", "b@example.com"]);
  const found = await getNotice(store.db, noticeId);
  if (found === undefined) throw new Error("no notice");
  const twice = [{ channel: "mail", target: "c@example.com" }];
  await store.transaction((trx) => routeNotice(trx, found, twice, null, 2_000));
  expect(await unrouted(store.db, "people", 9_000, 10)).toEqual([]);

  const claims = await Promise.all(
    ["one", "two", "three"].map((holder) =>
      claimDeliveries(store.db, { holder, nowMs: 1_000, untilMs: 2_000 }, 10),
    ),
  );
  expect(claims.flat()).toHaveLength(2);
  const again = { holder: "four", nowMs: 2_000, untilMs: 3_000 };
  expect(await claimDeliveries(store.db, again, 10)).toHaveLength(2);
});

test("a failed delivery is tried again at its time, but not one that was given up", async () => {
  const { store } = await testStore();
  const noticeId = await routed(store, ["a@example.com", "b@example.com"]);
  const [one, two] = await claimDeliveries(
    store.db,
    { holder: "us", nowMs: 1_000, untilMs: 2_000 },
    10,
  );
  if (one === undefined || two === undefined) throw new Error("nothing was due");
  const later = { kind: "again", problem: "timed out", atMs: 5_000 } as const;
  await recordDelivery(store.db, one.deliveryId, "us", later, 1_500);
  const given = { kind: "undeliverable", problem: "no such user" } as const;
  await recordDelivery(store.db, two.deliveryId, "us", given, 1_500);
  expect(await countUndelivered(store.db)).toEqual({ undeliverable: 1, retrying: 1, unrouted: 0 });
  expect(await listNotices(store.db, { undelivered: true, limit: 5 })).toHaveLength(1);

  const early = { holder: "us", nowMs: 4_999, untilMs: 9_000 };
  expect(await claimDeliveries(store.db, early, 10)).toEqual([]);
  const due = await claimDeliveries(store.db, { ...early, nowMs: 5_000 }, 10);
  expect(due).toMatchObject([{ deliveryId: one.deliveryId, tries: 1, problem: "timed out" }]);
  await recordDelivery(store.db, one.deliveryId, "them", { kind: "sent" }, 5_100);
  expect((await deliveriesOf(store.db, [noticeId])).get(noticeId)).toMatchObject([
    { state: "pending" },
    { state: "undeliverable" },
  ]);
  await recordDelivery(store.db, one.deliveryId, "us", { kind: "sent" }, 5_100);

  expect(await store.transaction((trx) => retryNotice(trx, noticeId, 6_000))).toBe(1);
  const once = await claimDeliveries(store.db, { holder: "us", nowMs: 6_000, untilMs: 7_000 }, 10);
  expect(once.map((delivery) => delivery.deliveryId)).toEqual([two.deliveryId]);
});

test("a notice that reaches nobody shows why, and is routed again at a person's request", async () => {
  const { store } = await testStore();
  await raiseNotice(store.db, notice({ runId: "run_1" }));
  const [raised] = await unrouted(store.db, "people", 1_000, 10);
  if (raised === undefined) throw new Error("nothing was raised");
  await postponeRouting(store.db, raised.noticeId, "the vendor can't be read", 3_000);
  expect(await unrouted(store.db, "people", 2_999, 10)).toEqual([]);
  expect(await unrouted(store.db, "people", 3_000, 10)).toMatchObject([{ routeTries: 1 }]);
  await store.transaction((trx) => routeNotice(trx, raised, [], "no address", 3_000));
  expect(await countUndelivered(store.db, "run_1")).toMatchObject({ unrouted: 1 });
  expect(await countUndelivered(store.db, "run_2")).toMatchObject({ unrouted: 0 });
  expect(await store.transaction((trx) => retryNotice(trx, raised.noticeId, 4_000))).toBe(1);
  expect(await unrouted(store.db, "people", 4_000, 10)).toMatchObject([{ routeProblem: null }]);
});

test("a notice that no channel took is routed again at a person's request, but not one that was sent", async () => {
  const { store } = await testStore();
  const retried = (noticeId: string) =>
    store.transaction((trx) => retryNotice(trx, noticeId, 4_000));
  const untaken = await routed(store, []);
  expect(await retried(untaken)).toBe(1);
  expect(await unrouted(store.db, "people", 4_000, 10)).toMatchObject([{ noticeId: untaken }]);
  const sent = await routed(store, ["cora"], { factKey: "another" });
  await store.db.updateTable("notice_deliveries").set({ state: "sent" }).execute();
  expect(await retried(sent)).toBe(0);
});

function planOf(payableIds: readonly string[]) {
  const lines = payableIds.map((id) => planLine(id));
  return { summary: planSummary(lines), lines, skipped: [] };
}

test("parked bills are notified if no notice has named them yet, and again after another attempt", async () => {
  const { store } = await testStore();
  const { runId, run: launched } = await upsertRun(store.db, newRun());
  const plan = planOf(["p1", "p2", "p3"]);
  await store.transaction((trx) => storePlan(trx, { run: launched, plan, nowMs: 1 }));
  const run = { runId, businessId: "biz_1" };
  const park = (ids: string[], attempts: number) =>
    store.db
      .updateTable("run_lines")
      .set({ state: "parked", reason_code: "R03", attempts })
      .where("payable_id", "in", ids)
      .execute();
  await park(["p1", "p2"], 1);
  const first = await unreportedParked(store.db, run);
  expect(first.map((line) => line.payableId)).toEqual(["p1", "p2"]);
  const parked = notice({ kind: "parked", factKey: first[0]?.factKey ?? "" });
  const keys = first.map((line) => line.factKey);
  await store.transaction((trx) => raiseNotice(trx, { ...parked, together: keys }));
  expect(await unreportedParked(store.db, run)).toEqual([]);
  await park(["p2"], 2);
  await park(["p3"], 1);
  const next = await unreportedParked(store.db, run);
  expect(next.map((line) => line.payableId)).toEqual(["p2", "p3"]);
  expect(next.map((line) => line.isGivenBack)).toEqual([false, false]);
  // A bill that its retry has given back is notified as such: it waits for the next run.
  const key = { businessId: "biz_1", payableId: "p3" };
  await upsertRetry(store.db, {
    ...key,
    business: "acme",
    runId,
    workflowId: "retry/p3",
    nowMs: 1,
  });
  await updateRetry(store.db, key, { phase: "ended" }, 2);
  const left = await unreportedParked(store.db, run);
  expect(left.map((line) => line.isGivenBack)).toEqual([false, true]);
  // The next run asks again about bills that nobody approved in time, but there may be no next run.
  const expired = { reason_code: "approval_expired" };
  await store.db.updateTable("run_lines").set(expired).where("payable_id", "=", "p2").execute();
  expect((await unreportedParked(store.db, run)).map((line) => line.isGivenBack)).toEqual([
    true,
    true,
  ]);
});

test("a parked bill is notified even though a later run has planned it without paying it", async () => {
  const { store } = await testStore();
  const plan = planOf(["p1"]);
  const { runId, run } = await upsertRun(store.db, newRun());
  await store.transaction((trx) => storePlan(trx, { run, plan, nowMs: 1 }));
  await store.db.updateTable("run_lines").set({ state: "parked", reason_code: "R03" }).execute();
  const later = await upsertRun(store.db, newRun({ period: "2026-12-01" }));
  await store.transaction((trx) => storePlan(trx, { run: later.run, plan, nowMs: 2 }));
  const stateOfLater = async (state: "skipped" | "awaiting-approval") => {
    const lines = store.db.updateTable("run_lines").where("run_id", "=", later.runId);
    await lines.set({ state, updated_at_ms: 3 }).execute();
    return unreportedParked(store.db, { runId, businessId: "biz_1" });
  };
  expect(await stateOfLater("skipped")).toMatchObject([{ payableId: "p1" }]);
  expect(await stateOfLater("awaiting-approval")).toEqual([]);
});

test("old notices that everyone has received are pruned, and the audit trail keeps what they said", async () => {
  const { store } = await testStore();
  const got = await routed(store, ["a@example.com"], { factKey: "old" });
  await routed(store, ["a@example.com"], { factKey: "not got" });
  await routed(store, [], { factKey: "nobody listens" });
  const { runId } = await upsertRun(store.db, newRun());
  await routed(store, [], { factKey: "of an open run", runId });
  await raiseNotice(store.db, notice({ factKey: "not routed" }));
  await raiseNotice(store.db, notice({ factKey: "new", nowMs: 5_000 }));
  await sent(store, got);
  const prune = () =>
    store.transactionOf("biz_1", (trx) =>
      pruneNotices(trx, "biz_1", { beforeMs: 2_000, nowMs: 9_000 }),
    );
  expect(await prune()).toBe(2);
  expect(await prune()).toBe(0);
  const left = await listNotices(store.db, { businessId: "biz_1", limit: 10 });
  expect(left.map(({ factKey }) => factKey).toSorted()).toEqual([
    "new",
    "not got",
    "not routed",
    "of an open run",
  ]);
  expect(await deliveriesOf(store.db, [got])).toEqual(new Map());
  const [entry] = await listAudit(store.db, { businessId: "biz_1" });
  expect(entry).toMatchObject({ action: "notices.forgotten" });
  expect(JSON.stringify(entry?.details)).toContain("nobody listens");
});

async function sent(store: Store, noticeId: string): Promise<void> {
  await store.db
    .updateTable("notice_deliveries")
    .set({ state: "sent" })
    .where("notice_id", "=", noticeId)
    .execute();
}
