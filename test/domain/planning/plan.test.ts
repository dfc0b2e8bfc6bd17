import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { isBankingDay } from "../../../src/domain/clock/bank-calendar.ts";
import { addDays } from "../../../src/domain/clock/dates.ts";
import { newYorkInstantMs } from "../../../src/domain/clock/new-york.ts";
import { planDates } from "../../../src/domain/planning/dates.ts";
import { LimitBook, vendorWeek } from "../../../src/domain/planning/limits.ts";
import { buildPlan, type PlanInput } from "../../../src/domain/planning/plan.ts";
import { bill, paid, PLAYBOOK, planInput, selection, vendor, type World } from "./fixtures.ts";

function planOf(world: World, changes: Partial<PlanInput> = {}) {
  return buildPlan(planInput(world, changes));
}

function kinds(world: World, changes: Partial<PlanInput> = {}): string[] {
  const line = planOf(world, changes).lines.find(({ payableId }) => payableId === "b1");
  return line?.flags.map((flag) => flag.kind) ?? ["no line"];
}

const isoDays = (days: number) =>
  new Date(newYorkInstantMs(addDays("2026-11-19", days), "10:00")).toISOString();

describe("the dates of a line", () => {
  it("are the latest that arrive by the due date", () => {
    const dates = planDates("2026-12-01", "2026-11-19", PLAYBOOK);
    expect(dates).toEqual({
      executionDate: "2026-11-25",
      arrivalDate: "2026-12-01",
      late: false,
      decideBy: "2026-11-25T05:00:00.000Z",
      dateRule: "on 2026-11-25",
    });
  });

  it("aim at the business day before a due date on a weekend or holiday", () => {
    expect(planDates("2026-11-29", "2026-11-16", PLAYBOOK).arrivalDate).toBe("2026-11-27");
    expect(planDates("2026-11-26", "2026-11-16", PLAYBOOK).arrivalDate).toBe("2026-11-25");
  });

  it("are the next banking day where the bill is late, and say so", () => {
    const dates = planDates("2026-11-20", "2026-11-20", PLAYBOOK);
    expect(dates).toMatchObject({ executionDate: "2026-11-23", late: true });
  });

  it("may move without asking only where the playbook says so", () => {
    const moving = { ...PLAYBOOK, late: "next-business-day" } as const;
    const rules = ["2026-12-01", "2026-12-15"].map(
      (due) => planDates(due, "2026-11-19", moving).dateRule,
    );
    expect(rules).toEqual(["by due date or next business day", "by due date or next business day"]);
  });

  it("ignore the due date where the playbook pays on the next business day", () => {
    const pay = { ...PLAYBOOK.pay, when: "next-business-day" } as const;
    const dates = planDates("2027-12-01", "2026-11-25", { pay, late: "ask" });
    expect(dates).toMatchObject({ executionDate: "2026-11-27", dateRule: "on 2026-11-27" });
  });

  const day = fc.integer({ min: 0, max: 6_000 }).map((offset) => addDays("2024-01-01", offset));
  test.prop([day, fc.option(day)])(
    "are banking days, tomorrow or later, and late only where nothing earlier would do",
    (today, due) => {
      const dates = planDates(due, today, PLAYBOOK);
      expect(isBankingDay(dates.executionDate)).toBe(true);
      expect(dates.executionDate > today).toBe(true);
      expect(dates.arrivalDate > dates.executionDate).toBe(true);
      if (dates.late) {
        expect(dates.executionDate).toBe(planDates(null, today, PLAYBOOK).executionDate);
      } else if (due !== null) {
        expect(dates.arrivalDate <= due).toBe(true);
      }
      expect(Date.parse(dates.decideBy)).toBeGreaterThan(newYorkInstantMs(today, "23:59"));
    },
  );
});

describe("flags", () => {
  it("are none for a plain bill of a vendor who was paid before", () => {
    expect(kinds({ bills: [bill("b1")] })).toEqual([]);
  });

  it("name a vendor to whom nothing has settled yet", () => {
    const vendors = [vendor("v2")];
    const bills = [bill("b1", { contactId: "v2" })];
    const pending = [paid("b0", { contactId: "v2", status: "processing" })];
    expect(kinds({ bills, vendors, payments: pending })).toEqual(["new-vendor"]);
  });

  it("name a bank account other than the one last paid to", () => {
    const world = { bills: [bill("b1")], vendors: [vendor("v1", { bankLast4: "9999" })] };
    expect(kinds(world)).toEqual(["changed-bank-account"]);
    const text = planOf(world).lines[0]?.flags[0]?.text;
    expect(text).toContain("9999");
    expect(text).toContain("1111");
  });

  it("name a recently changed vendor record where there is nothing to compare with", () => {
    const changed = (days: number) => ({
      bills: [bill("b1")],
      vendors: [vendor("v1", { updatedAt: isoDays(-days) })],
    });
    const nothing = { lastPaidTo: new Map<string, string>() };
    expect(kinds(changed(7), nothing)).toEqual(["changed-bank-account"]);
    expect(kinds(changed(31), nothing)).toEqual([]);
    expect(kinds(changed(7))).toEqual([]);
  });

  it("name a bill that looks like another of the same vendor within 30 days", () => {
    const near = bill("b2", { issueDate: "2026-11-10", status: "approved" });
    expect(kinds({ bills: [bill("b1"), near] })).toEqual(["likely-duplicate"]);
    const paidTwin = { bills: [bill("b1"), near], payments: [paid("b2")] };
    expect(kinds(paidTwin)).toEqual(["likely-duplicate"]);
    for (const other of [
      { ...near, issueDate: "2026-12-02" },
      { ...near, totalCents: 10_001 },
      { ...near, contactId: "v2" },
      { ...near, status: "void" },
    ]) {
      expect(kinds({ bills: [bill("b1"), other] })).toEqual([]);
    }
  });

  it("name an amount above three times the median of the vendor's paid bills", () => {
    const history = [1_000, 2_000, 90_000].map((totalCents, index) =>
      bill(`old${index}`, { totalCents, issueDate: "2026-01-01" }),
    );
    const payments = history.map((old) => paid(old.payableId, { amountCents: old.totalCents }));
    const world = (totalCents: number) => ({
      bills: [...history, bill("b1", { totalCents })],
      payments,
    });
    expect(kinds(world(6_000))).toEqual([]);
    expect(kinds(world(6_001))).toEqual(["unusual-amount"]);
  });

  it("say what can't be undone: large amounts are split, and several scheduled ones stay", () => {
    const large = { bills: [bill("b1", { totalCents: 10_000_001 })] };
    expect(kinds(large)).toEqual(["split", "not-recallable"]);
    const partly = {
      bills: [bill("b1")],
      payments: [paid("b1", { status: "scheduled", amountCents: 4_000 })],
    };
    expect(kinds(partly)).toEqual(["not-recallable"]);
  });

  it("leave out the reviews that the playbook does not ask for, but never what is late", () => {
    const playbook = { ...PLAYBOOK, review: [] };
    const world = {
      bills: [bill("b1", { contactId: "v2", dueDate: "2026-11-19" })],
      vendors: [vendor("v2")],
    };
    expect(kinds(world, { playbook })).toEqual(["late"]);
  });
});

describe("limits", () => {
  const limits = { billCents: 1_000, vendorPerWeekCents: 1_500, businessPerWeekCents: 2_000 };
  const unused = {
    businessCents: new Map<string, number>(),
    vendorCents: new Map<string, number>(),
  };
  const line = (contactId: string, amountCents: number, executionDate = "2026-11-20") => ({
    contactId,
    amountCents,
    executionDate,
  });

  it("hold for the bill, then for the vendor's week, then for the business's week", () => {
    const book = new LimitBook(limits, unused);
    expect(book.take(line("v1", 1_001))?.code).toBe("over-bill-limit");
    expect(book.take(line("v1", 1_000))).toBeNull();
    expect(book.take(line("v1", 501))?.code).toBe("over-vendor-week-limit");
    expect(book.take(line("v1", 500))).toBeNull();
    expect(book.take(line("v2", 501))?.code).toBe("over-business-week-limit");
    expect(book.take(line("v2", 500))).toBeNull();
  });

  it("begin anew on Monday in New York, by execution date", () => {
    const book = new LimitBook(limits, unused);
    expect(book.take(line("v1", 1_000, "2026-11-20"))).toBeNull();
    expect(book.take(line("v1", 1_000, "2026-11-23"))).toBeNull();
  });

  it("count what other runs have committed", () => {
    const book = new LimitBook(limits, {
      businessCents: new Map([["2026-11-16", 1_900]]),
      vendorCents: new Map([[vendorWeek("v1", "2026-11-16"), 1_450]]),
    });
    expect(book.take(line("v1", 51))?.code).toBe("over-vendor-week-limit");
    expect(book.take(line("v2", 101))?.code).toBe("over-business-week-limit");
    expect(book.take(line("v2", 100))).toBeNull();
  });

  const lines = fc.array(
    fc.record({
      contactId: fc.constantFrom("v1", "v2", "v3"),
      amountCents: fc.integer({ min: 1, max: 1_200 }),
      executionDate: fc.constantFrom("2026-11-20", "2026-11-23", "2026-11-24"),
    }),
  );
  test.prop([lines])("are never exceeded by what they let through", (asked) => {
    const book = new LimitBook(limits, unused);
    const taken = asked.filter((each) => book.take(each) === null);
    for (const monday of ["2026-11-16", "2026-11-23"]) {
      const week = taken.filter(
        (each) => each.executionDate >= monday && each.executionDate <= addDays(monday, 6),
      );
      const sum = (of: typeof week) => of.reduce((total, each) => total + each.amountCents, 0);
      expect(sum(week)).toBeLessThanOrEqual(limits.businessPerWeekCents);
      for (const contactId of ["v1", "v2", "v3"]) {
        const vendorSum = sum(week.filter((each) => each.contactId === contactId));
        expect(vendorSum).toBeLessThanOrEqual(limits.vendorPerWeekCents);
      }
    }
  });
});

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

  it("gives each line the first rule that matches it", () => {
    const rules = planOf(world).lines.map((line) => [line.payableId, line.ruleIndex, line.quorum]);
    expect(rules).toEqual([
      ["late", 2, 1],
      ["new", 0, 2],
      ["soon", 2, 1],
      ["large", 1, 1],
    ]);
  });

  it("leaves out a bill that a rule's condition can't judge, instead of taking the next rule", () => {
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
    expect(summary.skippedByCode).toMatchObject({ "condition-failed": 1 });
  });

  it("sums up what will happen", () => {
    const { summary } = planOf(world, { availableCents: 5_000_000, reservedCents: 1_000_000 });
    expect(summary).toMatchObject({
      lineCount: 4,
      totalCents: 3_021_000,
      flaggedCount: 1,
      skippedCount: 2,
      skippedByCode: { "not-approved": 1, "not-due": 1 },
      decideBy: "2026-11-20T05:00:00.000Z",
      cash: [
        { date: "2026-11-20", neededCents: 300, leftCents: 3_999_700 },
        { date: "2026-11-25", neededCents: 3_020_700, leftCents: 979_000 },
      ],
      availableCents: 5_000_000,
      reservedCents: 1_000_000,
    });
  });

  it("shows money that will be missing as less than nothing, and nothing where it can't know", () => {
    const short = planOf(world, { availableCents: 0 }).summary.cash;
    expect(short.at(-1)?.leftCents).toBe(-3_021_000);
    expect(planOf(world, { availableCents: null }).summary.cash[0]?.leftCents).toBeNull();
  });

  it("parks what is above a limit, and needs no cash for it", () => {
    const limits = { ...PLAYBOOK.limits, billCents: 1_000_000 };
    const { lines, summary } = planOf(world, { playbook: { ...PLAYBOOK, limits } });
    const over = lines.filter((line) => line.overLimit !== null);
    expect(over.map((line) => line.payableId)).toEqual(["large"]);
    expect(summary.cash.reduce((sum, day) => sum + day.neededCents, 0)).toBe(21_000);
  });

  it("has the same hash for the same bills in any order, and another for any change", () => {
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

  it("finds the nearest of many equal bills, undated ones included", () => {
    const rent = (payableId: string, issueDate: string | null) =>
      bill(payableId, { issueDate, dueDate: issueDate === null ? null : "2026-11-27" });
    const months = [rent("jan", "2026-01-01"), rent("aug", "2026-08-01"), rent("b1", "2026-11-10")];
    expect(kinds({ bills: months })).toEqual([]);
    expect(kinds({ bills: [...months, rent("oct", "2026-10-15")] })).toEqual(["likely-duplicate"]);
    expect(kinds({ bills: [...months, rent("undated", null)] })).toEqual(["likely-duplicate"]);
  });

  it("takes little time for ten thousand bills of one busy vendor and many others", () => {
    const bills = Array.from({ length: 10_000 }, (_, index) =>
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
    const large = { bills, vendors, payments };
    const startedAt = process.cpuUsage();
    const { lines } = planOf(large);
    const cpuMs = process.cpuUsage(startedAt).user / 1_000;
    expect(lines.length).toBeGreaterThan(9_000);
    expect(selection(large).selected.length).toBe(lines.length);
    expect(cpuMs).toBeLessThan(5_000);
  });
});
