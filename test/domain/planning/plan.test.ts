import { describe, expect, it } from "vitest";
import { addDays } from "../../../src/domain/clock/dates.ts";
import { newYorkInstantMs } from "../../../src/domain/clock/new-york.ts";
import type { SumPer } from "../../../src/contracts/playbook.ts";
import { vendorWeek } from "../../../src/domain/planning/limits.ts";
import type { PlanInput } from "../../../src/domain/planning/plan.ts";
import { bill, paid, planOf, PLAYBOOK, selection, vendor, type World } from "./fixtures.ts";

describe("a plan", () => {
  const world: World = {
    bills: [
      bill("late", { dueDate: "2026-11-01", totalCents: 300, issueDate: "2026-10-01" }),
      bill("soon", { dueDate: "2026-12-01", totalCents: 20_000 }),
      bill("large", { dueDate: "2026-12-01", totalCents: 3_000_000 }),
      bill("new", { contactId: "v2", totalCents: 700, dueDate: "2026-12-01" }),
      bill("draft", { status: "draft" }),
      bill("far", { dueDate: "2027-01-01" }),
    ],
    vendors: [vendor("v1"), vendor("v2")],
  };

  it("a plan gives each line the first rule that matches it", () => {
    const rules = planOf(world).lines.map((line) => [line.payableId, line.ruleIndex, line.quorum]);
    expect(rules).toEqual([
      ["late", 2, 1],
      ["new", 0, 2],
      ["soon", 2, 1],
      ["large", 1, 1],
    ]);
  });

  it("a plan leaves out a bill if a rule's condition fails on it, and doesn't take the next rule", () => {
    const [any] = PLAYBOOK.approve;
    expect(any).toBeDefined();
    if (any === undefined) return;
    const approve = [
      { ...any, review: false, where: "odd", by: ["owner"] },
      { ...any, review: false },
    ];
    const { lines, summary } = planOf(world, {
      playbook: { ...PLAYBOOK, approve },
      matches: (_, view) => (view.id === "soon" ? { failed: "division by zero" } : false),
    });
    expect(lines.map((line) => line.payableId)).toEqual(["late", "new", "large"]);
    expect(summary.skippedByCode).toMatchObject({ condition_failed: 1 });
  });

  it("a plan's summary has its totals", () => {
    const { summary } = planOf(world, { availableCents: 5_000_000, reservedCents: 1_000_000 });
    expect(summary).toMatchObject({
      lineCount: 4,
      totalCents: 3_021_000,
      flaggedCount: 1,
      skippedCount: 2,
      skippedByCode: { not_approved: 1, not_due: 1 },
      decideBy: "2026-11-20T05:00:00.000Z",
      cash: [
        { date: "2026-11-20", neededCents: 300, leftCents: 3_999_700 },
        { date: "2026-11-25", neededCents: 3_020_700, leftCents: 979_000 },
      ],
      availableCents: 5_000_000,
      reservedCents: 1_000_000,
    });
  });

  it("a plan shows missing money as negative, and as null if the source's balance is unknown", () => {
    const short = planOf(world, { availableCents: 0 }).summary.cash;
    expect(short.at(-1)?.leftCents).toBe(-3_021_000);
    expect(planOf(world, { availableCents: null }).summary.cash[0]?.leftCents).toBeNull();
  });

  it("bills just below an amount fall under its rule once their vendor's sum is above it", () => {
    const [any] = PLAYBOOK.approve.slice(-1);
    expect(any).toBeDefined();
    if (any === undefined) return;
    const bills = [
      bill("a", { totalCents: 9_000, dueDate: "2026-12-01" }),
      bill("b", { totalCents: 9_000, dueDate: "2026-12-15" }),
      bill("other", { contactId: "v2", totalCents: 9_000, dueDate: "2026-12-01" }),
    ];
    const rulesOf = (overPer: SumPer, usedCents = 0, partCents = 0) => {
      const approve = [{ ...any, overCents: 10_000, overPer, by: ["owner"] }, any];
      const monday = "2026-11-23";
      const weekUse = {
        businessCents: new Map(),
        vendorCents: new Map([[vendorWeek("v1", monday), usedCents]]),
        partCents: new Map([[vendorWeek("a", monday), partCents]]),
      };
      const playbook = { ...PLAYBOOK, select: { due: "all" as const }, review: [], approve };
      const vendors = [vendor("v1"), vendor("v2")];
      const { lines } = planOf({ bills, vendors }, { playbook, weekUse });
      return Object.fromEntries(lines.map((line) => [line.payableId, line.ruleIndex]));
    };
    expect(rulesOf("vendor")).toEqual({ a: 0, b: 0, other: 1 });
    // The second is paid in another week.
    expect(rulesOf("vendor-week")).toEqual({ a: 1, b: 1, other: 1 });
    expect(rulesOf("vendor-week", 1_001)).toEqual({ a: 0, b: 1, other: 1 });
    // Earlier parts of a bill are in its total.
    expect(rulesOf("vendor-week", 1_001, 1_001)).toEqual({ a: 1, b: 1, other: 1 });
  });

  it("a plan parks lines over a limit, and needs no cash for them", () => {
    const limits = { ...PLAYBOOK.limits, billCents: 1_000_000 };
    const { lines, summary } = planOf(world, { playbook: { ...PLAYBOOK, limits } });
    const over = lines.filter((line) => line.overLimit !== null);
    expect(over.map((line) => line.payableId)).toEqual(["large"]);
    expect(summary.cash.reduce((sum, day) => sum + day.neededCents, 0)).toBe(21_000);
  });

  it("a plan has the same hash for the same bills in any order, and a different one after any change", () => {
    const hash = (changed: World, changes: Partial<PlanInput> = {}) =>
      planOf(changed, changes).summary.planHash;
    const same = hash(world);
    expect(hash({ ...world, bills: [...world.bills].reverse() })).toBe(same);
    const [first, ...rest] = world.bills;
    expect(first).toBeDefined();
    if (first === undefined) return;
    const others = [
      hash({ ...world, bills: [{ ...first, totalCents: 301 }, ...rest] }),
      hash({ ...world, bills: rest }),
      hash({ ...world, vendors: [vendor("v1", { bankLast4: "2222" }), vendor("v2")] }),
      hash(world, { playbookRevision: 2 }),
      hash(world, { businessId: "biz_2" }),
      hash(world, { nowMs: newYorkInstantMs("2026-11-20", "10:00") }),
    ];
    expect(new Set([same, ...others]).size).toBe(others.length + 1);
  });

  it("a plan of ten times the bills, half of them of one busy vendor, takes less than fifty times as long", () => {
    // Its least processor time of several tries: other processes only add to it.
    const leastMs = (count: number, tries: number) => {
      const bills = Array.from({ length: count }, (_, index) =>
        bill(`b${index}`, {
          contactId: index % 2 === 0 ? "v1" : `v${index % 500}`,
          totalCents: index % 2 === 0 ? 5_000 : 100 + (index % 700),
          dueDate: addDays("2026-11-01", index % 31),
          issueDate: addDays("2024-01-01", index % 1_000),
        }),
      );
      const vendors = Array.from({ length: 500 }, (_, index) => vendor(`v${index}`));
      const payments = bills.map((each) =>
        paid(each.payableId, { amountCents: 1, contactId: each.contactId }),
      );
      const world = { bills, vendors, payments };
      const selected = selection(world).selected.length;
      expect(selected).toBeGreaterThan(0.9 * count);
      const times = Array.from({ length: tries }, () => {
        const startedAt = process.threadCpuUsage();
        const { lines } = planOf(world);
        expect(lines).toHaveLength(selected);
        const { user, system } = process.threadCpuUsage(startedAt);
        // Their sum is exact; how it is divided is only sampled.
        return (user + system) / 1_000;
      });
      return Math.min(...times);
    };
    const fewMs = leastMs(1_000, 8);
    expect(leastMs(10_000, 3)).toBeLessThan(50 * fewMs);
  });
});
