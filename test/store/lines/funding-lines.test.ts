import { expect, test } from "vitest";
import { unfundSource, usesOfSource } from "../../../src/store/lines/funding-lines.ts";
import { changeLine, getRunLine, type LineChange } from "../../../src/store/lines/lines.ts";
import { cameBack, troubledLines } from "../../../src/store/lines/troubled-lines.ts";
import { approvedRun } from "../approved-run.ts";
import { testStore } from "../support.ts";

const LINES: Readonly<Record<string, LineChange>> = {
  ready: { state: "planned", funded: true },
  sent: { state: "scheduled", funded: true },
  back: { state: "retrying", reasonCode: "R02", reason: "No account" },
  held: { state: "on-hold", reasonCode: "on_hold" },
  over: { state: "settled", funded: true },
};

test("a funding source that is gone loses its reservations for unsent lines, and its uses are listed", async () => {
  const { store } = await testStore();
  const runId = await approvedRun(store, "weekly", Object.keys(LINES));
  for (const [payableId, change] of Object.entries(LINES)) {
    await changeLine(store.db, { runId, payableId }, change, 4);
  }
  const businessId = (await getRunLine(store.db, runId, "ready"))?.businessId ?? "";
  const source = { businessId, sourceId: "balance", nowMs: 5 };
  const uses = await store.transaction(async (trx) => {
    await unfundSource(trx, { ...source, sourceId: "another" });
    expect((await getRunLine(trx, runId, "ready"))?.funded).toBe(true);
    await unfundSource(trx, source);
    return usesOfSource(trx, source);
  });
  const funded = async (id: string) => (await getRunLine(store.db, runId, id))?.funded;
  expect([await funded("ready"), await funded("sent"), await funded("over")]).toEqual([
    false,
    true,
    true,
  ]);
  expect(uses.map(({ state, count }) => [state, count])).toEqual([
    ["on-hold", 1],
    ["planned", 1],
    ["retrying", 1],
    ["scheduled", 1],
  ]);
  expect(uses.every(({ cents }) => Number.isInteger(cents) && cents > 0)).toBe(true);
});

test("a run's exceptions are listed by name, and returned bills are counted by code", async () => {
  const { store } = await testStore();
  const runId = await approvedRun(store, "weekly", Object.keys(LINES));
  for (const [payableId, change] of Object.entries(LINES)) {
    await changeLine(store.db, { runId, payableId }, change, 4);
  }
  const odd = await troubledLines(store.db, runId);
  expect(odd.map(({ payableId, state, reasonCode }) => [payableId, state, reasonCode])).toEqual([
    ["back", "retrying", "R02"],
    ["held", "on-hold", "on_hold"],
  ]);
  expect(odd.map(({ name }) => name)).toEqual([
    expect.stringMatching(/ of /),
    expect.stringMatching(/ of /),
  ]);
  const counts = new Map([["retrying" as const, {}]]);
  expect(await cameBack(store.db, runId, counts)).toEqual(new Map([["R02", 1]]));
  expect(await cameBack(store.db, runId, new Map())).toEqual(new Map());
});
