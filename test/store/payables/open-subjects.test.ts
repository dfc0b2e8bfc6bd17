import { describe, expect, test } from "vitest";
import type { LineState } from "../../../src/contracts/line-states.ts";
import { changeLine, getRunLine } from "../../../src/store/lines/lines.ts";
import { recordResults } from "../../../src/ledger/results.ts";
import { close, closeAnswered } from "../../../src/ledger/write.ts";
import {
  leftOpen,
  neverAnswered,
  openSubjects,
} from "../../../src/store/payables/open-subjects.ts";
import { cancelUndecided, parkUnapproved } from "../../../src/store/lines/undecided-lines.ts";
import { sendOnce } from "../../support/sends.ts";
import { approvedRun } from "../approved-run.ts";
import { closeSubjectOn, openSubjectOn, testStore } from "../support.ts";

/** A run of two bills; a request may still pay the first. */
async function halfOpen(state: LineState) {
  const { store } = await testStore();
  const runId = await approvedRun(store, "weekly", ["pay_1", "pay_2"]);
  await openSubjectOn(store, "pay_1", runId);
  const set = (payableId: string, to: LineState) =>
    changeLine(store.db, { runId, payableId }, { state: to }, 4);
  for (const payableId of ["pay_1", "pay_2"]) await set(payableId, state);
  const states = async () =>
    Promise.all(
      ["pay_1", "pay_2"].map(async (id) => (await getRunLine(store.db, runId, id))?.state),
    );
  const moment = { runId, businessId: "biz_1", playbook: "weekly", businessMs: 5, nowMs: 5 };
  return { store, set, states, moment };
}

describe("a bill that a request may still pay", () => {
  test.each(["planned", "awaiting-approval", "on-hold"] as const)(
    "a bill that a request may still pay becomes unknown if its run is stopped while it is %s, and other bills end",
    async (state) => {
      const { store, states, moment } = await halfOpen(state);
      await store.transaction((trx) => cancelUndecided(trx, moment, "run_cancelled"));
      expect(await states()).toEqual(["unknown", "cancelled"]);
    },
  );

  test("a bill that a request may still pay becomes unknown if nobody approves it in time, and other bills are parked", async () => {
    const { store, states, moment } = await halfOpen("awaiting-approval");
    await store.transaction((trx) => parkUnapproved(trx, moment));
    expect(await states()).toEqual(["unknown", "parked"]);
  });

  test("a bill is open again if a late response says that its request may still take effect", async () => {
    const { store } = await testStore();
    const of = { businessId: "biz_1", subject: "pay_1", owner: "run/1" };
    const open = () => openSubjects(store.db, "biz_1", ["pay_1"]);
    const send = await sendOnce(store, of, { result: "not-sent" });
    expect(await open()).toEqual(new Set());
    const late = { send, result: "unknown", status: 500, code: null, message: null } as const;
    const hear = () =>
      store.transactionOf("biz_1", (trx) =>
        recordResults(trx, "biz_1", [{ ...late, answerDateMs: null, madeIds: [] }]),
      );
    await hear();
    expect(await open()).toEqual(new Set(["pay_1"]));
    await hear();
    expect(await open()).toEqual(new Set(["pay_1"]));
  });

  test("a bill is left open if nobody works on it, its request is old and no look is recent", async () => {
    const { store, set } = await halfOpen("parked");
    const left = (openedMs: number) =>
      leftOpen(store.db, "biz_1", { openedMs, lookedUpAtMs: 50 }, 10);
    expect(await left(2)).toEqual(["pay_1"]);
    expect(await left(1)).toEqual([]);
    for (const state of ["paying", "unknown", "retrying"] as const) {
      await set("pay_1", state);
      expect(await left(2)).toEqual([]);
    }
    await set("pay_1", "scheduled");
    const look = {
      ...{ business_id: "biz_1", subject: "pay_1", begun_service_ms: null },
      ...{ is_whole: 1, shown_ids: "[]", recorded_at_ms: 60 },
    };
    await store.db
      .insertInto("lookups")
      .values({ ...look, lookup_id: "old", begun_at_ms: 49 })
      .execute();
    expect(await left(2)).toEqual(["pay_1"]);
    await store.db
      .insertInto("lookups")
      .values({ ...look, lookup_id: "new", begun_at_ms: 50 })
      .execute();
    expect(await left(2)).toEqual([]);
  });
});

test("what becomes clear of one business's bill leaves another business's bill of the same id open", async () => {
  const { store } = await testStore();
  const businesses = ["biz_1", "biz_2"];
  for (const businessId of businesses) {
    await sendOnce(store, { businessId, subject: "pay_1", owner: "run/1" });
  }
  const open = () =>
    Promise.all(businesses.map(async (id) => [...(await openSubjects(store.db, id, ["pay_1"]))]));
  expect(await open()).toEqual([["pay_1"], ["pay_1"]]);
  await store.transactionOf("biz_2", (trx) => closeAnswered(trx, "biz_2", ["pay_1"]));
  expect(await open()).toEqual([["pay_1"], ["pay_1"]]);
  await store.transactionOf("biz_2", (trx) => close(trx, "biz_2", ["pay_1"]));
  expect(await open()).toEqual([["pay_1"], []]);
});

test("a bill whose request never had a response is looked at again for days, unless a send for it may follow", async () => {
  const { store, set } = await halfOpen("cancelled");
  await closeSubjectOn(store, "pay_1");
  const { openedAtMs } = await sendOnce(store, {
    ...{ businessId: "biz_1", subject: "pay_1", owner: "run/1" },
    agoMs: 3_600_000,
  });
  await sendOnce(
    store,
    { businessId: "biz_1", subject: "pay_2", owner: "run/1" },
    { result: "not-sent" },
  );
  const left = (openedMs: number, lookedUpAtMs = 0) =>
    neverAnswered(store.db, "biz_1", { openedMs, lookedUpAtMs }, 10);
  // A bill that a request may still pay is looked after elsewhere.
  expect(await left(0)).toEqual([]);
  await closeSubjectOn(store, "pay_1");
  expect(await left(0)).toEqual(["pay_1"]);
  expect(await left(openedAtMs + 1)).toEqual([]);
  for (const state of ["processing", "retrying", "on-hold"] as const) {
    await set("pay_1", state);
    expect(await left(0)).toEqual([]);
  }
  await set("pay_1", "scheduled");
  expect(await left(0)).toEqual(["pay_1"]);
  await set("pay_1", "settled");
  const look = { lookup_id: "l", business_id: "biz_1", subject: "pay_1", begun_service_ms: null };
  await store.db
    .insertInto("lookups")
    .values({ ...look, begun_at_ms: 50, is_whole: 1, shown_ids: "[]", recorded_at_ms: 60 })
    .execute();
  expect(await left(0, 51)).toEqual(["pay_1"]);
  expect(await left(0, 50)).toEqual([]);
});
