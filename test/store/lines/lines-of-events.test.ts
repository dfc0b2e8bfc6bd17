import { expect, test } from "vitest";
import { insertEvents } from "../../../src/store/events/inbox.ts";
import { linesOfEvents } from "../../../src/store/lines/lines-of-events.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { approvedRun } from "../approved-run.ts";
import { testStore } from "../support.ts";

test("an event on a bill that arrives while its run is being planned is news to the plan, an earlier one is not", async () => {
  const { store } = await testStore();
  const { db } = store;
  const runId = await approvedRun(store, "weekly", ["before", "meanwhile"]);
  await db.updateTable("runs").set({ planned_at_ms: 2_000 }).execute();
  const run = await getRun(db, runId);
  if (run === undefined) throw new Error("no run");
  const told = [
    ["before", run.launchedAtMs - 1],
    ["meanwhile", run.launchedAtMs + 1],
  ] as const;
  await insertEvents(
    db,
    told.map(([objectId, receivedAtMs]) => ({
      ...{ businessId: "biz_1", eventId: objectId, sequence: "1", via: "webhook", body: "{}" },
      ...{ type: "payable.updated", object: "payable", createdAt: "", objectId, receivedAtMs },
    })),
  );
  expect(await linesOfEvents(db, run)).toEqual([{ payableId: "meanwhile", isOfBill: true }]);
});
