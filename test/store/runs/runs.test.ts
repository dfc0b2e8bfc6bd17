import { expect, test } from "vitest";
import {
  getRun,
  joinedRun,
  listRuns,
  requestCancel,
  setApproveBy,
  setRunPhase,
  upsertRun,
} from "../../../src/store/runs/runs.ts";
import { SystemAuthor } from "../../../src/contracts/authors.ts";
import { planLine, seedRun, setLine } from "../../gateway/support/rows.ts";
import { runThatCounts } from "../../../src/store/runs/run-of-period.ts";
import { newRun, policy } from "../fixtures.ts";
import { child, testStore } from "../support.ts";

test("a launch creates the period's run, and the next launch joins it", async () => {
  const { store } = await testStore();
  const first = await upsertRun(store.db, newRun());
  expect(first).toMatchObject({ runId: "pay-run/acme/weekly/2026-11-05", created: true });
  const second = await upsertRun(store.db, newRun({ launchedBy: "otto", playbookRevision: 2 }));
  expect(second).toMatchObject({ runId: first.runId, created: false });
  expect(second.run).toMatchObject({ launchedBy: "lena", playbookRevision: 1, policy });
});

test("a launch would join the period's run, unless that run may be launched again", async () => {
  const { store } = await testStore();
  expect(await joinedRun(store.db, newRun())).toBeUndefined();
  const { runId } = await upsertRun(store.db, newRun());
  expect(await joinedRun(store.db, newRun())).toMatchObject({ runId });
  await setRunPhase(store.db, runId, { phase: "cancelled", endedAtMs: 5 });
  expect(await joinedRun(store.db, newRun())).toBeUndefined();
});

test.each(["rejected", "expired", "cancelled", "failed"] as const)(
  "a launch after a run that ended as %s makes the next revision",
  async (phase) => {
    const { store } = await testStore();
    const { runId } = await upsertRun(store.db, newRun());
    await setRunPhase(store.db, runId, { phase, endedAtMs: 5 });
    const next = await upsertRun(store.db, newRun());
    expect(next).toMatchObject({ runId: `${runId}/r2`, created: true });
    expect((await upsertRun(store.db, newRun())).runId).toBe(`${runId}/r2`);
  },
);

test.each(["completed", "completed-with-exceptions", "paying"] as const)(
  "a launch in or after a run with a line that is %s joins it: a period is never paid twice",
  async (phase) => {
    const { store } = await testStore();
    const { runId } = await seedRun(store, {
      ...{ businessId: "biz_1", period: "2026-11-05" },
      lines: [planLine("p1")],
    });
    await setRunPhase(store.db, runId, { phase });
    expect(await upsertRun(store.db, newRun())).toMatchObject({ runId, created: false });
    expect(await runThatCounts(store.db, newRun())).toMatchObject({ runId });
  },
);

test.each(["parked", "on-hold"] as const)(
  "a run whose only line is %s at its end has used up its period",
  async (state) => {
    const { store } = await testStore();
    const { runId } = await seedRun(store, {
      ...{ businessId: "biz_1", period: "2026-11-05" },
      lines: [planLine("p1")],
    });
    await setLine(store, runId, "p1", { state });
    await setRunPhase(store.db, runId, { phase: "completed-with-exceptions", endedAtMs: 5 });
    expect(await upsertRun(store.db, newRun())).toMatchObject({ runId, created: false });
  },
);

test("a run that ended without a single line doesn't use up its period, except for the author who launches once", async () => {
  const { store } = await testStore();
  const schedule = new SystemAuthor("schedule of weekly");
  const once = newRun({ once: true });
  const { runId } = await upsertRun(store.db, newRun());
  expect(await upsertRun(store.db, newRun())).toMatchObject({ runId, created: false });
  await setRunPhase(store.db, runId, { phase: "completed", endedAtMs: 5 });
  expect(await runThatCounts(store.db, newRun())).toBeUndefined();
  const again = await upsertRun(store.db, once);
  expect(again).toMatchObject({ runId: `${runId}/r2`, created: true });
  await setRunPhase(store.db, again.runId, { phase: "completed", endedAtMs: 6 });
  expect(await runThatCounts(store.db, newRun(), schedule)).toBeUndefined();
  const own = await upsertRun(store.db, newRun({ launchedBy: schedule }));
  await setRunPhase(store.db, own.runId, { phase: "completed", endedAtMs: 7 });
  const byHand = await upsertRun(store.db, newRun());
  await setRunPhase(store.db, byHand.runId, { phase: "completed", endedAtMs: 8 });
  expect(await runThatCounts(store.db, newRun(), schedule)).toMatchObject({
    runId: byHand.runId,
  });
  expect(await runThatCounts(store.db, newRun())).toBeUndefined();
});

test("a run that was cancelled before it had a line is launched again only by a person, not by what launches a period once", async () => {
  const { store } = await testStore();
  const schedule = new SystemAuthor("schedule of weekly");
  const { runId } = await upsertRun(store.db, newRun());
  await setRunPhase(store.db, runId, { phase: "cancelled", endedAtMs: 5 });
  expect(await runThatCounts(store.db, newRun(), schedule)).toMatchObject({ runId });
  const once = await upsertRun(store.db, newRun({ once: true }));
  expect(once).toMatchObject({ runId, created: false });
  const byHand = await upsertRun(store.db, newRun());
  expect(byHand).toMatchObject({ runId: `${runId}/r2`, created: true });
});

test("processes that launch at once share one run", async () => {
  const { url } = await testStore();
  const launches = await Promise.all([1, 2, 3].map(() => child("launch", [url])));
  const runs = launches as { runId: string; created: boolean }[];
  expect(new Set(runs.map((run) => run.runId)).size).toBe(1);
  expect(runs.filter((run) => run.created)).toHaveLength(1);
});

test("a profile name that belonged to another business is refused", async () => {
  const { store } = await testStore();
  await upsertRun(store.db, newRun());
  const other = upsertRun(store.db, newRun({ businessId: "biz_2" }));
  await expect(other).rejects.toThrow("belongs to another business");
});

test("a run never leaves an ended phase", async () => {
  const { store } = await testStore();
  const { runId } = await upsertRun(store.db, newRun());
  expect(await setRunPhase(store.db, runId, { phase: "paying", waitingFor: "answers" })).toBe(true);
  expect(await setRunPhase(store.db, runId, { phase: "completed", endedAtMs: 7 })).toBe(true);
  expect(await setRunPhase(store.db, runId, { phase: "completed", endedAtMs: 9 })).toBe(true);
  expect(await setRunPhase(store.db, runId, { phase: "paying" })).toBe(false);
  expect(await setRunPhase(store.db, runId, { phase: "failed" })).toBe(false);
  expect(await getRun(store.db, runId)).toMatchObject({
    phase: "completed",
    endedAtMs: 7,
    waitingFor: null,
  });
  expect(await setRunPhase(store.db, "pay-run/none", { phase: "paying" })).toBe(false);
});

test("a cancel is recorded once, and not after the run's end", async () => {
  const { store } = await testStore();
  const { runId } = await upsertRun(store.db, newRun());
  const cancel = (id: string, by: string, nowMs: number) =>
    store.transaction((trx) => requestCancel(trx, id, by, nowMs));
  expect(await cancel(runId, "otto", 3)).toBe("requested");
  expect(await cancel(runId, "lena", 4)).toBe("already");
  expect(await getRun(store.db, runId)).toMatchObject({
    cancelRequestedBy: "otto",
    cancelRequestedAtMs: 3,
  });
  await setRunPhase(store.db, runId, { phase: "cancelled" });
  expect(await cancel(runId, "lena", 5)).toBe("ended");
  expect(await cancel("none", "lena", 5)).toBe("unknown");
});

test("the time for approval is set once", async () => {
  const { store } = await testStore();
  const { runId } = await upsertRun(store.db, newRun());
  await setApproveBy(store.db, runId, { plannedAtMs: 10, approveByMs: 20 });
  await setApproveBy(store.db, runId, { plannedAtMs: 30, approveByMs: 40 });
  expect(await getRun(store.db, runId)).toMatchObject({ plannedAtMs: 10, approveByMs: 20 });
});

test("runs are listed latest first, and of one business if it is named", async () => {
  const { store } = await testStore();
  const first = await upsertRun(store.db, newRun({ period: "2026-11-05", nowMs: 1 }));
  const second = await upsertRun(store.db, newRun({ period: "2026-11-12", nowMs: 2 }));
  const ids = async (filter: Partial<Parameters<typeof listRuns>[1]>) =>
    (await listRuns(store.db, { limit: 10, ...filter })).map((run) => run.runId);
  expect(await ids({})).toEqual([second.runId, first.runId]);
  expect(await ids({ limit: 1 })).toEqual([second.runId]);
  expect(await ids({ businessId: "biz_2" })).toEqual([]);
});
