import { beforeEach, expect, test } from "vitest";
import { LineCounts } from "../../src/reports/line-counts.ts";
import type { Store } from "../../src/store/index.ts";
import { setRunPhase } from "../../src/store/runs/runs.ts";
import { testStore } from "../store/support.ts";
import { planLine, seedRun, setLine } from "../gateway/support/rows.ts";

let store: Store;

beforeEach(async () => {
  ({ store } = await testStore());
});

async function ended(period: string): Promise<string> {
  const lines = ["a", "b"].map((id) => planLine(`${period}-${id}`));
  const { runId } = await seedRun(store, { period, lines });
  for (const { payableId } of lines) await setLine(store, runId, payableId, { state: "settled" });
  await setRunPhase(store.db, runId, { phase: "completed", endedAtMs: Date.now() });
  return runId;
}

async function read(counts: LineCounts): Promise<Record<string, number>> {
  return Object.fromEntries(await counts.read());
}

test("lines of open and ended runs are counted by state, with open lines of ended runs", async () => {
  const counts = new LineCounts(store);
  expect(await read(counts)).toEqual({});
  const { runId } = await seedRun(store, { lines: [planLine("p1"), planLine("p2")] });
  expect(await read(counts)).toEqual({ "awaiting-approval": 2 });
  await setLine(store, runId, "p1", { state: "settled" });
  const past = await ended("2026-10-01");
  expect(await read(counts)).toEqual({ "awaiting-approval": 1, settled: 3 });
  await setLine(store, runId, "p2", { state: "processing" });
  await setLine(store, past, "2026-10-01-a", { state: "parked" });
  expect(await read(counts)).toEqual({ processing: 1, parked: 1, settled: 2 });
});

test("changes in ended runs are found within a few looks, however many runs there are", async () => {
  const counts = new LineCounts(store);
  const runs: string[] = [];
  for (let day = 10; day < 23; day += 1) runs.push(await ended(`2026-10-${day}`));
  expect(await read(counts)).toEqual({ settled: 26 });
  await setLine(store, runs.at(-1) ?? "", "2026-10-22-b", { state: "returned" });
  let looks = 0;
  while ((await read(counts))["returned"] === undefined && looks < 4) looks += 1;
  expect(await read(counts)).toEqual({ settled: 25, returned: 1 });
  expect(looks).toBe(2);
});
