import { expect, test } from "vitest";
import { LINE_STATES } from "../../../src/contracts/line-states.ts";
import { missingOf, shareOf, ShareSums, WaitingSums } from "../../../src/domain/approvals/share.ts";
import { plus } from "../../../src/domain/counted.ts";
import { holdOn } from "../../../src/domain/holds.ts";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import { activeHolds, createHold } from "../../../src/store/holds/holds.ts";
import {
  approvalGroups,
  FLAGGED,
  LATE,
  type LineAsApproved,
  linesAsApproved,
} from "../../../src/store/lines/approval-groups.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { storePlan } from "../../../src/store/plans/plan-writes.ts";
import { upsertRun } from "../../../src/store/runs/runs.ts";
import { approval } from "../approved-run.ts";
import { newRun, planLine, planSummary } from "../fixtures.ts";
import { testStore } from "../support.ts";

const BILLS = 600;
const NOW = 5_000;
const CORA = { name: "cora", roles: new Set(["controller"]) };
/** Every 13th bill is flagged; of these, every 20th is cancelled. */
const ODDEST = ["p598", "p585", "p572", "p559", "p546"];
const CHANGED = [{ kind: "changed-bank-account", text: "It ends in 4417 now." }] as const;

/** Stores bills that differ, in many combinations, in everything that approvals depend on. */
async function mixedRun() {
  const { store } = await testStore();
  const lines = Array.from({ length: BILLS }, (_, no) =>
    planLine(`p${no}`, {
      contactId: `con_${no % 7}`,
      amountCents: 1_000 + no,
      executionDate: no % 11 === 0 ? "2026-11-04" : "2026-11-05",
      dueDate: no % 5 === 0 ? `2026-11-0${1 + (no % 9)}` : "2026-11-10",
      quorum: no % 3 === 0 ? 2 : 1,
      flags: no % 13 === 0 ? CHANGED : [],
    }),
  );
  const { run } = await upsertRun(store.db, newRun());
  await store.transaction(async (trx) => {
    await storePlan(trx, {
      run,
      plan: { summary: planSummary(lines), lines, skipped: [] },
      nowMs: 1,
    });
    for (const [name, every] of [
      ["carol", 4],
      ["cora", 6],
    ] as const) {
      const given = lines.filter((_, no) => no % every === 0);
      await recordDecision(trx, approval(run.runId, name, given));
    }
    const { businessId, runId } = run;
    const hold = { businessId, reason: "a call is open", author: "oli", nowMs: 1 };
    await createHold(trx, { ...hold, scope: "contact", value: "con_3" });
    await createHold(trx, { ...hold, scope: "payable", value: "p8" });
    for (let no = 0; no < BILLS; no += 10) {
      const state = no % 20 === 0 ? "cancelled" : "on-hold";
      await changeLine(trx, { runId, payableId: `p${no}` }, { state }, 2);
    }
  });
  return { db: store.db, run };
}

/** Returns a review's sums over lines or over groups, each of which stands for its bills. */
function summed(
  of: readonly (LineAsApproved & { readonly bills?: { count: number; cents: number } })[],
  {
    run,
    holds,
    drop,
  }: {
    run: { runId: string; playbook: string };
    holds: Parameters<typeof holdOn>[0];
    drop: readonly string[];
  },
) {
  const [shares, missing, changed] = [
    new ShareSums(),
    new WaitingSums(),
    new Map<string, unknown>(),
  ];
  for (const { planned, under, bills: some } of of) {
    const { line, plan } = planned;
    const bills = some ?? { count: 1, cents: line.amountCents };
    const lacks = missingOf(under);
    if (lacks === null || (line.state !== "awaiting-approval" && line.state !== "on-hold"))
      continue;
    missing.add(lacks, bills);
    if (drop.includes(line.payableId)) continue;
    const isHeld = line.state === "on-hold" || holdOn(holds, { ...line, ...run }) !== undefined;
    shares.add(shareOf(under, CORA), { bills, isHeld });
    if (plan.flags.length === 0) continue;
    const before = (changed.get(line.contactId) ?? { count: 0, cents: 0 }) as typeof bills;
    changed.set(line.contactId, plus(before, bills));
  }
  return { share: shares.share(), missing: missing.all(), changed: Object.fromEntries(changed) };
}

test("sums over groups of lines equal the sums over single lines", async () => {
  const { db, run } = await mixedRun();
  const holds = await activeHolds(db, run.businessId, NOW);
  const drop = ["p1", "p2", "p13"];
  const grouping = { states: LINE_STATES, businessMs: NOW, holds, apart: drop };
  const groups = await approvalGroups(db, run.runId, grouping);
  const each = await linesAsApproved(db, run.runId, {}, NOW);
  expect(each).toHaveLength(BILLS);
  expect(groups.reduce((sum, { bills }) => sum + bills.count, 0)).toBe(BILLS);
  const asked = { run, holds, drop };
  const [byGroup, byLine] = [summed(groups, asked), summed(each, asked)];
  expect(byGroup).toEqual(byLine);
  expect(byLine.share.onHold.count).toBeGreaterThan(1);
  expect(byLine.share.given.length).toBeGreaterThan(0);
});

test("a run with more lines of the same kinds has no more groups", async () => {
  const { db, run } = await mixedRun();
  const holds = await activeHolds(db, run.businessId, NOW);
  const groups = await approvalGroups(db, run.runId, {
    states: LINE_STATES,
    businessMs: NOW,
    holds,
  });
  expect(groups.length).toBeLessThan(BILLS / 4);
});

test("flagged bills are listed by amount and late ones by days late, without cancelled ones", async () => {
  const { db, run } = await mixedRun();
  const page = { offset: 0, limit: 5 };
  const odd = await linesAsApproved(db, run.runId, { ...FLAGGED, page }, NOW);
  expect(odd.map(({ planned }) => planned.line.payableId)).toEqual(ODDEST);
  const late = await linesAsApproved(db, run.runId, { ...LATE, page }, NOW);
  const days = late.map(({ planned }) => planned.line.daysLate);
  expect(days).toEqual(days.toSorted((a, b) => b - a));
  expect(days[0]).toBe(9);
  for (const { planned } of [...odd, ...late]) expect(planned.line.state).not.toBe("cancelled");
});
