import { SystemAuthor } from "../../../src/contracts/authors.ts";
import { expect, test } from "vitest";
import { cancelOfPayments } from "../../../src/domain/cancellations/policy.ts";
import {
  type CancellationItem,
  changeItem,
  dropItem,
  insertItem,
  listItems,
  releaseWithheld,
  withheldBy,
} from "../../../src/store/cancellations/cancellation-items.ts";
import { listCancellations } from "../../../src/store/cancellations/cancellation-list.ts";
import {
  changeCancellation,
  insertCancellation,
} from "../../../src/store/cancellations/cancellations.ts";
import { linesUnderWay } from "../../../src/store/lines/lines-under-way.ts";
import type { Store } from "../../../src/store/index.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { approvedRun } from "../approved-run.ts";
import { newRun } from "../fixtures.ts";
import { keepSeenPayments } from "../../../src/store/payables/seen-payments.ts";
import { testStore } from "../support.ts";

async function request(store: Store, workflowId: string, runId: string | null): Promise<void> {
  await store.transaction((trx) =>
    insertCancellation(trx, {
      workflowId,
      businessId: "biz_1",
      business: "acme",
      playbook: "",
      policy: cancelOfPayments([]),
      runId,
      reason: "wrong",
      requestedBy: "olga",
      nowMs: 1,
    }),
  );
}

async function item(store: Store, change: Partial<CancellationItem>): Promise<CancellationItem> {
  const made: CancellationItem = {
    workflowId: "cancel_1",
    itemNo: 0,
    businessId: "biz_1",
    paymentId: null,
    payableId: "bill_1",
    contactId: "con_1",
    amountCents: 100,
    state: "unknown",
    open: true,
    reason: null,
    holdId: "hold_1",
    releaseByMs: null,
    cancelledAtMs: null,
    goesOutAtMs: null,
    notBeforeMs: 0,
    pollAtMs: 0,
    updatedAtMs: 1,
    ...change,
  };
  await insertItem(store.db, made, 1);
  return made;
}

test("only bills held back from a run are for its playbook's roles to release", async () => {
  const { store } = await testStore();
  await request(store, "withhold_1", "run_1");
  await request(store, "cancel_1", null);
  const withheld = await item(store, { workflowId: "withhold_1", holdId: "hold_2" });
  await item(store, { state: "withheld", open: false });
  expect(await withheldBy(store.db, "hold_1")).toBeUndefined();
  expect((await withheldBy(store.db, "hold_2"))?.item).toEqual(withheld);
});

test("releasing a hold releases its bills that were never paid, in every request", async () => {
  const { store } = await testStore();
  for (const id of ["cancel_1", "cancel_2"]) {
    await request(store, id, null);
    await item(store, { workflowId: id, state: "withheld", open: false });
    await item(store, { workflowId: id, itemNo: 1, paymentId: "pay_1", state: "cancelled" });
  }
  await releaseWithheld(store.db, "hold_1", "olga", 2);
  for (const id of ["cancel_1", "cancel_2"]) {
    const states = (await listItems(store.db, id)).map(({ state }) => state);
    expect(states).toEqual(["released", "cancelled"]);
  }
});

test("a waiting bill is replaced by its payment, or dropped if its payments are listed already", async () => {
  const { store } = await testStore();
  await request(store, "cancel_1", null);
  const one = await item(store, {});
  const other = await item(store, { itemNo: 1 });
  await changeItem(store.db, one, { paymentId: "pay_1", amountCents: 90 }, 2);
  await dropItem(store.db, one);
  await dropItem(store.db, other);
  expect(await listItems(store.db, "cancel_1")).toMatchObject([
    { paymentId: "pay_1", amountCents: 90 },
  ]);
});

test("the cancellations that may have left something to people are those whose money went out lately, is held, or may go out any day", async () => {
  const { store } = await testStore();
  const ended = async (workflowId: string, change: Partial<CancellationItem>) => {
    await request(store, workflowId, null);
    await item(store, { workflowId, state: "too-late", open: false, ...change });
    const phase = "completed-with-exceptions" as const;
    await changeCancellation(store.db, workflowId, { phase, endedAtMs: 2 });
  };
  await ended("long-ago", { goesOutAtMs: 900 });
  await ended("lately", { goesOutAtMs: 1_100 });
  await ended("cancelled-lately", { cancelledAtMs: 1_100 });
  await ended("unknown", { state: "unknown", cancelledAtMs: 900 });
  await ended("no-day", { state: "several-scheduled", cancelledAtMs: 900 });
  await ended("held", { goesOutAtMs: 900, paymentId: "pay_1" });
  await ended("taken-back", { state: "cancelled", cancelledAtMs: 1_100 });
  await store.transaction((trx) =>
    keepSeenPayments(trx, "biz_1", [
      { id: "pay_1", status: "held", amountCents: 100, updatedAt: null },
    ]),
  );
  const found = await listCancellations(store.db, { leftSinceMs: 1_000, limit: 10 });
  expect(found.map(({ workflowId }) => workflowId).toSorted()).toEqual([
    "cancelled-lately",
    "held",
    "lately",
    "no-day",
    "unknown",
  ]);
});

test("the list of cancellations leaves out those that a run or an event started in vain, and shows those of people", async () => {
  const { store } = await testStore();
  const policy = cancelOfPayments([]);
  const asked = {
    businessId: "biz_1",
    business: "acme",
    runId: null,
    reason: "r",
    nowMs: 1,
    policy,
  };
  for (const [workflowId, playbook, requestedBy] of [
    ["by-run", "flagged", new SystemAuthor("flagged")],
    ["by-person", "", "ada"],
    ["launched", "flagged", "ada"],
  ] as const) {
    await store.transaction((trx) =>
      insertCancellation(trx, { ...asked, workflowId, playbook, requestedBy }),
    );
    await changeCancellation(store.db, workflowId, { phase: "completed", endedAtMs: 2 });
  }
  const found = async () =>
    (await listCancellations(store.db, { limit: 10 })).map(({ workflowId }) => workflowId);
  expect((await found()).toSorted()).toEqual(["by-person", "launched"]);
  await item(store, { workflowId: "by-run", state: "withheld" });
  expect((await found()).toSorted()).toEqual(["by-person", "by-run", "launched"]);
});

test("the lines that can still be taken back are those under way or parked, of a playbook, vendor or bill", async () => {
  const { store } = await testStore();
  const states = ["planned", "paying", "scheduled", "processing", "settled", "parked"] as const;
  const runId = await approvedRun(store, "weekly", [...states]);
  for (const state of states) {
    await changeLine(store.db, { runId, payableId: state }, { state }, 4);
  }
  await approvedRun(store, "monthly", ["other"], { contactId: "con_other" });
  const all = { playbook: null, contactId: null, payableId: null, runId: null, sourceId: null };
  const found = async (of: Partial<Record<keyof typeof all, string>>) => {
    const { businessId } = newRun();
    const lines = await linesUnderWay(store.db, businessId, { ...all, ...of });
    return lines.map(({ payableId }) => payableId).toSorted();
  };
  const weekly = ["parked", "paying", "planned", "scheduled"];
  expect(await found({})).toEqual(["other", ...weekly]);
  expect(await found({ playbook: "weekly" })).toEqual(weekly);
  expect(await found({ contactId: "con_other" })).toEqual(["other"]);
  expect(await found({ payableId: "parked" })).toEqual(["parked"]);
});
