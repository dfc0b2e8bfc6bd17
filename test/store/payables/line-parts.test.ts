import { expect, test } from "vitest";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { linesInParts } from "../../../src/store/payables/line-parts.ts";
import { keepSeenPayments } from "../../../src/store/payables/seen-payments.ts";
import { approvedRun } from "../approved-run.ts";
import { testStore } from "../support.ts";

test("a split bill has parts only once each of its payments has been seen", async () => {
  const { store } = await testStore();
  const { db } = store;
  const runId = await approvedRun(store, "weekly", ["bill_1"]);
  const paymentIds = ["pmt_1", "pmt_2"];
  await changeLine(db, { runId, payableId: "bill_1" }, { state: "scheduled", paymentIds }, 4);
  const sees = (id: string, status: string) =>
    store.transaction((trx) =>
      keepSeenPayments(trx, "biz_1", [{ id, status, amountCents: 5_000, updatedAt: null }]),
    );
  const parts = async () => (await linesInParts(db, (all) => all)).map((line) => line.parts);
  await sees("pmt_1", "completed");
  expect(await parts()).toEqual([]);
  await sees("pmt_2", "failed");
  expect(await parts()).toEqual([{ settledCents: 5_000, onItsWayCents: 0, openCents: 5_000 }]);
});
