import { expect, test } from "vitest";
import { lateLines } from "../../../src/store/lines/late-lines.ts";
import { changeLine, type LineChange } from "../../../src/store/lines/lines.ts";
import { approvedRun } from "../approved-run.ts";
import { openSubjectOn, testStore } from "../support.ts";

test("a line is late if its date has passed and it could be leased now, unless something may have been sent", async () => {
  const { store } = await testStore();
  const changes: Readonly<Record<string, LineChange>> = {
    late: {},
    "in-time": { executionDate: "2026-11-06" },
    unfunded: { funded: false },
    resting: { notBeforeMs: 6_000 },
    waiting: { state: "awaiting-approval" },
    sent: {},
  };
  const runId = await approvedRun(store, "weekly", Object.keys(changes));
  for (const [payableId, change] of Object.entries(changes)) {
    await changeLine(store.db, { runId, payableId }, change, 4);
  }
  await openSubjectOn(store, "sent");
  const late = (before: string, blockedSources: readonly string[] = []) =>
    store.transaction((trx) =>
      lateLines(trx, { runId, before, serviceMs: 5_000.5, blockedSources }),
    );
  expect(await late("2026-11-06")).toEqual(["late"]);
  expect((await late("2026-11-07")).toSorted()).toEqual(["in-time", "late"]);
  expect(await late("2026-11-06", ["balance"])).toEqual([]);
  expect(await late("2026-11-05")).toEqual([]);
});
